// Whether the parts that we need answer. Liveness never asks them; readiness asks each time, within a bound.

import { isCancellation, type Clock, type Log, type Metrics } from "@keelson/base";

/** A part that must answer before we say that we are ready. */
export interface Check {
  readonly name: string;
  /** Resolves if the part answers. What it throws is logged when the part fails, and never shown to callers. */
  run(signal: AbortSignal): Promise<void>;
}

export interface HealthOptions {
  readonly checks: readonly Check[];
  readonly clock: Clock;
  readonly log: Log;
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
  /** Parts of which a line says that they do not answer. */
  readonly #told = new Set<string>();
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
        const failure = await failureWithin(clock.timeout(checkTimeoutMs), check);
        this.#found(check, failure);
      }),
    );
    return this.components;
  }

  #found({ name }: Check, failure: unknown): void {
    const isUp = failure === undefined;
    const before = this.#states.get(name)?.status;
    this.#up.set({ component: name }, isUp ? 1 : 0);
    this.#states.set(name, { name, status: isUp ? "healthy" : "unhealthy" });
    if (!this.#isStopping) this.#tell(name, before, failure);
  }

  /** A line for each change, not for each asking. A part that has yet to start is no news. */
  #tell(component: string, before: ComponentState["status"] | undefined, error: unknown): void {
    const { log } = this.#options;
    if (error === undefined) {
      if (this.#told.delete(component)) log.info({ component }, "ready: the part answers again");
    } else if (before === "healthy") {
      this.#told.add(component);
      log.warn({ component, error }, "not ready: a part does not answer");
    } else if (before === "unknown") {
      log.debug({ component, error }, "not ready yet: a part does not answer");
    }
  }
}

/** Why `check` did not succeed before `signal` aborted, also if it does not heed the signal; undefined where it did. */
function failureWithin(signal: AbortSignal, check: Check): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
    check.run(signal).then(() => resolve(undefined), resolve);
  });
}
