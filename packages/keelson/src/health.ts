// Whether the parts that we need answer. Liveness never asks them; readiness asks each time, within a bound.

import { isCancellation, type Clock, type Metrics } from "@keelson/base";

/** A part that must answer before we say that we are ready. */
export interface Check {
  readonly name: string;
  /** Resolves if the part answers. What it throws is logged, and never shown to callers. */
  run(signal: AbortSignal): Promise<void>;
}

export interface HealthOptions {
  readonly checks: readonly Check[];
  readonly clock: Clock;
  readonly metrics: Metrics;
}

export interface ComponentState {
  readonly name: string;
  readonly status: "healthy" | "unhealthy" | "unknown";
}

/** How long a part may take to answer. */
const checkTimeoutMs = 2_000;
/** How often parts are asked unasked, so that `/health` knows what it says. */
const askIntervalMs = 5_000;

export class Health {
  readonly #options: HealthOptions;
  readonly #states: Map<string, ComponentState>;
  readonly #up;
  #asking: Promise<readonly ComponentState[]> | undefined;
  #isStopping = false;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#states = new Map(
      options.checks.map(({ name }) => [name, { name, status: "unknown" as const }]),
    );
    this.#up = options.metrics.gauge({
      name: "keelson_component_up",
      help: "Whether a part answered when it was last asked",
      labels: ["component"],
    });
  }

  /** What is known, without asking anybody. */
  get components(): readonly ComponentState[] {
    return [...this.#states.values()];
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** From now on we are not ready, whatever the parts say: nobody should send us more. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Asks all parts. Callers at the same time share one asking; it takes 2 seconds at most. */
  ask(): Promise<readonly ComponentState[]> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Asks again and again until `signal` aborts. */
  async keepAsking(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.ask();
        await this.#options.clock.sleep(askIntervalMs, signal);
      }
    } catch (error) {
      if (!isCancellation(error, signal)) throw error;
    }
  }

  async #ask(): Promise<readonly ComponentState[]> {
    const { checks, clock } = this.#options;
    await Promise.all(
      checks.map(async (check) => {
        const { name } = check;
        const isUp = await within(clock.timeout(checkTimeoutMs), (signal) => check.run(signal));
        this.#up.set({ component: name }, isUp ? 1 : 0);
        this.#states.set(name, { name, status: isUp ? "healthy" : "unhealthy" });
      }),
    );
    return this.components;
  }
}

/** Whether `run` succeeds before `signal` aborts, also if it does not heed the signal. */
function within(signal: AbortSignal, run: Check["run"]): Promise<boolean> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
    run(signal).then(
      () => resolve(true),
      () => resolve(false),
    );
  });
}
