// Counts what is asked of a store and times it, by what became of it.

import type { Clock, Counter, Histogram } from "@keelson/base";
import { Corrupt, StoreError } from "./errors.ts";
import type { StoreMetrics } from "./metrics.ts";

export class OperationMeter {
  readonly #metrics: StoreMetrics;
  readonly #clock: Clock;
  readonly #series = new Map<string, { readonly count: Counter; readonly seconds: Histogram }>();

  constructor(metrics: StoreMetrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  async measure<T>(operation: string, kind: string, run: () => Promise<T>): Promise<T> {
    const start = this.#clock.monotonic();
    let outcome = "ok";
    try {
      return await run();
    } catch (error) {
      outcome = error instanceof StoreError ? error.code : "other";
      if (error instanceof Corrupt) this.#metrics.corrupt.add(1);
      throw error;
    } finally {
      this.tell({ operation, kind, outcome }, (this.#clock.monotonic() - start) / 1000);
    }
  }

  tell(labels: OperationLabels, tookSeconds: number): void {
    const { count, seconds } = this.#seriesOf(labels);
    count.add(1);
    seconds.observe(tookSeconds);
  }

  /** The metrics of one operation, kept: finding them by their labels costs more than a read. */
  #seriesOf(labels: OperationLabels) {
    const id = `${labels.operation} ${labels.kind} ${labels.outcome}`;
    let series = this.#series.get(id);
    if (series === undefined) {
      const count = this.#metrics.operations.with(labels);
      series = { count, seconds: this.#metrics.operationSeconds.with(labels) };
      this.#series.set(id, series);
    }
    return series;
  }
}

type OperationLabels = Record<"operation" | "kind" | "outcome", string>;
