// A batch on its way to watchers: how long until the last of them has passed it on.

import type { Clock } from "@keelson/base";
import type { StoreMetrics } from "./metrics.ts";

/** When so few still have it, the time is taken: not for every one of a thousand. */
const fewHolders = 8;

/**
 * Observed once, however many watchers there are: by the last that has passed the batch on. Those that leave, or fall
 * behind and read the log, do not count.
 */
export class Delivery {
  /** A list of this one, for whoever has no other: it is shared. */
  readonly alone: readonly Delivery[] = [this];
  readonly #committedAt: number;
  readonly #clock: Clock;
  readonly #seconds: StoreMetrics["deliverySeconds"];
  #holders = 0;
  #passedOnAt: number | undefined;

  constructor(
    committedAt: number,
    { clock, metrics }: { readonly clock: Clock; readonly metrics: StoreMetrics },
  ) {
    this.#committedAt = committedAt;
    this.#clock = clock;
    this.#seconds = metrics.deliverySeconds;
  }

  /** Some watcher has it now. */
  hold(): void {
    this.#holders += 1;
  }

  /** A watcher has passed it on. */
  release(): void {
    this.#holders -= 1;
    if (this.#holders < fewHolders) this.#passedOnAt = this.#clock.monotonic();
    if (this.#holders === 0) this.#observe();
  }

  /** A watcher has given it up. */
  drop(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#observe();
  }

  #observe(): void {
    if (this.#passedOnAt === undefined) return;
    this.#seconds.observe((this.#passedOnAt - this.#committedAt) / 1000);
  }
}
