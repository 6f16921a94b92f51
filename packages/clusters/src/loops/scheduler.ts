// Announces every live cluster and nodepool again and again: what needs attention often, what is stable seldom.

import { Backoff, isCancellation, type Clock, type Log, type Random } from "@keelson/base";
import { isTransient, type Database, type Outbox } from "@keelson/database";
import type { ScheduleReason } from "../events/event.ts";
import { kinds, type KindName } from "../kinds.ts";
import { announceDue, type Cadence, type ClaimedRow } from "../sql/schedules.ts";
import type { SchedulerMetrics } from "./metrics.ts";

export interface SchedulerOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** The time by which things are due: the database's. */
  readonly time: { now(): number; measure?(signal: AbortSignal): Promise<void> };
  readonly random: Random;
  readonly log: Log;
  readonly metrics: SchedulerMetrics;
  readonly cadence: Cadence;
  /** How often it looks. */
  readonly tickMs: number;
  /** Brings the statuses up to date that the decisions rest on. */
  readonly refreshStatuses: (signal: AbortSignal) => Promise<void>;
  readonly batchMax?: number;
}

const scheduledBy = "keelson-scheduler";

/** Runs on any number of replicas: each due time is announced once, by one of them. */
export class Scheduler {
  readonly #options: SchedulerOptions;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Ticks until `signal`. A tick that fails is tried again sooner, for ever. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, metrics, tickMs } = this.#options;
    const backoff = new Backoff({ initialMs: 500, maxMs: tickMs, random });
    while (!signal.aborted) {
      const startMs = clock.monotonic();
      let waitMs = tickMs;
      try {
        await this.tick(signal);
        metrics.ticks.add({ result: "done" });
        backoff.reset();
      } catch (error) {
        if (isCancellation(error, signal)) return;
        if (!isTransient(error)) throw error;
        metrics.ticks.add({ result: "failed" });
        waitMs = backoff.next();
        log.warn({ error, waitMs }, "the scheduler could not tick, trying again");
      }
      metrics.tickSeconds.observe((clock.monotonic() - startMs) / 1_000);
      const passedMs = clock.monotonic() - startMs;
      await clock.sleep(Math.max(waitMs - passedMs, 0), signal).catch(() => undefined);
    }
  }

  /** Announces whatever is due, in batches until nothing is; gives how many were announced. */
  async tick(signal: AbortSignal): Promise<number> {
    const { time, refreshStatuses } = this.#options;
    await time.measure?.(signal);
    await refreshStatuses(signal);
    let announced = 0;
    for (const { name } of Object.values(kinds)) {
      announced += await this.#announceAll(name, signal);
    }
    return announced;
  }

  async #announceAll(kind: KindName, signal: AbortSignal): Promise<number> {
    const { database, outbox, time, cadence, batchMax = 500 } = this.#options;
    let announced = 0;
    for (;;) {
      const claim = { kind, nowMs: time.now(), cadence, limit: batchMax, scheduledBy };
      const rows = await database.run(announceDue, claim, signal);
      announced += this.#count(kind, rows);
      if (rows.length > 0) outbox.wakeups.wakeHere(outbox.writtenChannel);
      // Each was moved ahead: a batch that is not full was the last.
      if (rows.length < batchMax) return announced;
    }
  }

  #count(kind: KindName, rows: readonly ClaimedRow[]): number {
    const { metrics, log } = this.#options;
    const told = rows.filter((row): row is ClaimedRow & { reason: ScheduleReason } => {
      return row.reason !== null;
    });
    for (const { reason, late_ms: lateMs } of told) {
      metrics.announced.add({ kind, reason });
      metrics.lateSeconds.observe(Math.max(lateMs, 0) / 1_000);
    }
    if (told.length > 0) log.debug({ kind, announced: told.length }, "announced what was due");
    return told.length;
  }
}
