// What one cache adds to the metrics of its kind: several caches of a kind share each figure, and add up.

import type { SingleGauge } from "@keelson/base";

import type { ControllerMetrics } from "../metrics.ts";

export class CacheFigures implements Disposable {
  readonly #caches: SingleGauge;
  readonly #live: SingleGauge;
  readonly #objects: SingleGauge;
  #isLive = false;
  #size = 0;

  constructor(metrics: ControllerMetrics, kind: string) {
    this.#caches = metrics.caches.with({ kind });
    this.#live = metrics.liveCaches.with({ kind });
    this.#objects = metrics.cachedObjects.with({ kind });
    this.#caches.add(1);
    for (const gauge of [this.#live, this.#objects]) gauge.add(0);
  }

  count(size: number): void {
    if (size !== this.#size) this.#objects.add(size - this.#size);
    this.#size = size;
  }

  setLive(isLive: boolean): void {
    if (isLive !== this.#isLive) this.#live.add(isLive ? 1 : -1);
    this.#isLive = isLive;
  }

  /** The cache is no longer kept: its share is taken back. */
  [Symbol.dispose](): void {
    this.count(0);
    this.setLive(false);
    this.#caches.add(-1);
  }
}
