// How many resources are how far, what waits, and which targets are up: asked now and then, in a few questions.

import {
  isCancellation,
  type Clock,
  type LabelledGauge,
  type Log,
  type Metrics,
  type SingleGauge,
} from "@keelson/base";
import type { Database } from "@keelson/database";
import { countStatuses, countTargets, measureQueue } from "../sql/gauges.ts";

export interface FleetGaugesOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const everyMs = 15_000;
/** To count statuses is to look at every row. It takes one part in so many of the time, so that idle rows cost next to nothing. */
const statusesShare = 100;

/** What is no more is absent, never stale. */
export class FleetGauges {
  readonly #options: FleetGaugesOptions;
  readonly #resources: Family<"cluster_id" | "status">;
  readonly #targets: Family<"cluster_id">;
  readonly #depth: SingleGauge;
  readonly #oldest: SingleGauge;
  #statusesDueMs = Number.NEGATIVE_INFINITY;

  constructor(options: FleetGaugesOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#resources = new Family(
      metrics.gauge({
        name: "keelson_fleet_resources",
        help: "Resources, by cluster and status",
        labels: ["cluster_id", "status"],
      }),
    );
    this.#targets = new Family(
      metrics.gauge({
        name: "keelson_fleet_target_up",
        help: "Whether a target answers",
        labels: ["cluster_id"],
      }),
    );
    this.#depth = metrics.gauge({
      name: "keelson_fleet_queue_depth",
      help: "Resources for which something is to be done now",
    });
    this.#oldest = metrics.gauge({
      name: "keelson_fleet_queue_oldest_seconds",
      help: "How long the first of them has been waiting",
    });
  }

  /** Keeps them fresh until `signal`. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        if (clock.monotonic() >= this.#statusesDueMs) await this.#measureStatuses(signal);
        await this.#measureOthers(signal);
      } catch (error) {
        if (isCancellation(error, signal)) return;
        log.warn({ error }, "the gauges of fleet are not fresh");
      }
      await clock.sleep(everyMs, signal).catch(() => undefined);
    }
  }

  /** All of them, now. */
  async measure(signal: AbortSignal): Promise<void> {
    await this.#measureStatuses(signal);
    await this.#measureOthers(signal);
  }

  async #measureStatuses(signal: AbortSignal): Promise<void> {
    const { database, clock } = this.#options;
    const begunMs = clock.monotonic();
    const statuses = await database.run(countStatuses, undefined, signal);
    const endMs = clock.monotonic();
    this.#statusesDueMs = endMs + (endMs - begunMs) * (statusesShare - 1);
    this.#resources.set(
      statuses.map(({ cluster_id, status, count }) => [{ cluster_id, status }, count]),
    );
  }

  async #measureOthers(signal: AbortSignal): Promise<void> {
    const { database } = this.#options;
    const targets = await database.run(countTargets, undefined, signal);
    this.#targets.set(targets.map(({ cluster_id, is_up }) => [{ cluster_id }, is_up ? 1 : 0]));
    const [queue] = await database.run(measureQueue, undefined, signal);
    this.#depth.set(queue?.depth ?? 0);
    this.#oldest.set(queue?.oldest_seconds ?? 0);
  }
}

/** The series of a gauge, all of them set together. */
class Family<L extends string> {
  readonly #gauge: LabelledGauge<L>;
  #shown = new Map<string, Readonly<Record<L, string>>>();

  constructor(gauge: LabelledGauge<L>) {
    this.#gauge = gauge;
  }

  set(values: readonly (readonly [labels: Readonly<Record<L, string>>, value: number])[]): void {
    const next = new Map(values.map(([labels]) => [JSON.stringify(labels), labels]));
    for (const [key, labels] of this.#shown) if (!next.has(key)) this.#gauge.remove(labels);
    for (const [labels, value] of values) this.#gauge.set(labels, value);
    this.#shown = next;
  }
}
