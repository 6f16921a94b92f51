// Gauges of what only the database knows, kept on every replica, whichever of them cuts the log.

import type { Clock } from "@keelson/base";
import type { Backend, Size } from "./backend.ts";
import type { StoreMetrics } from "./metrics.ts";

interface Options {
  readonly backend: Pick<Backend, "size">;
  readonly metrics: StoreMetrics;
  readonly clock: Clock;
  readonly everyMs: number;
}

/** How long a measurement may take: what it would say later is old. */
const measureMs = 2000;

/** Measures now and then, and when told to look. What cannot be measured is absent, never what it once was. */
export class Measurements {
  readonly #options: Options;
  #isAway = false;
  #isWoken = false;
  #wake: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  show({ floor, logRows, bytes }: Size): void {
    const { metrics } = this.#options;
    metrics.floorRevision.set(floor);
    metrics.logRows.set(logRows);
    metrics.sizeBytes.set(bytes);
  }

  /** Told what became of asking whether the database answers: it is measured where that is news. */
  heard({ isUp }: { readonly isUp: boolean }): void {
    if (this.#isAway !== isUp) return;
    this.#isAway = !isUp;
    this.#isWoken = true;
    this.#wake?.();
  }

  /** Measures until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { backend, clock, everyMs } = this.#options;
    signal.addEventListener("abort", () => this.#wake?.(), { once: true });
    while (!signal.aborted) {
      await this.#wait(everyMs);
      if (signal.aborted) break;
      try {
        this.show(await backend.size(AbortSignal.any([signal, clock.timeout(measureMs)])));
      } catch {
        this.#forget(); // Whoever pings is told why.
      }
    }
    this.#forget();
  }

  #forget(): void {
    const { metrics } = this.#options;
    metrics.floorRevision.remove();
    metrics.logRows.remove();
    metrics.sizeBytes.remove();
  }

  async #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    using _timer = this.#options.clock.after(ms, resolve);
    if (!this.#isWoken) await promise;
    this.#isWoken = false;
    this.#wake = undefined;
  }
}
