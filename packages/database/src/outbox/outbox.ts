// Events that commit with the change they tell of: a rollback sends nothing, a commit loses nothing.

import { isCancellation, silentLog, systemRandom, type Log, type Random } from "@keelson/base";
import type { Database, Transaction } from "../database.ts";
import { declareMetrics } from "../metrics.ts";
import { Numbering, type Numbered } from "../numbering.ts";
import {
  insertEvents,
  measureBacklog,
  outboxShape,
  purgeEvents,
  readEvents,
} from "../sql/outbox.ts";
import { runOnWake } from "../wake-loop.ts";
import type { Wakeups } from "../wakeups.ts";
import { toColumns, toEvent, type NumberedEvent, type OutboxEvent } from "./event.ts";

export interface OutboxOptions {
  /** Its search path leads to the schema with the outbox's tables. */
  readonly database: Database;
  readonly wakeups: Wakeups;
  /** What the log is called, in `numbering` and in metrics; `<schema>.outbox`. */
  readonly name: string;
  /**
   * By whom events reach those they are for: `relay` carries them to a transport; `log` means that whoever follows the
   * log has them, so an event is published with its position.
   */
  readonly publishedBy?: "relay" | "log";
  /** How often to look without being woken. */
  readonly pollMs?: number;
  readonly random?: Random;
  readonly log?: Log;
}

/**
 * Between two numberings, and with them all that follows: each is a transaction with a sync of its own, and costs hardly
 * more for fifty events than for one.
 */
const restMs = 10;

/** The outbox of one service. Its loops run on any number of replicas. */
export class Outbox {
  readonly database: Database;
  readonly wakeups: Wakeups;
  readonly name: string;
  /** Woken when events have been committed and want their positions. */
  readonly writtenChannel: string;
  /** Woken, in all processes, when events have got their positions. */
  readonly numberedChannel: string;
  readonly pollMs: number;
  readonly random: Random;
  readonly log: Log;
  readonly #numbering: Numbering;
  readonly #publishedBy: "relay" | "log";

  constructor(options: OutboxOptions) {
    const { database, wakeups, name, publishedBy = "relay", pollMs = 1_000 } = options;
    this.database = database;
    this.wakeups = wakeups;
    this.name = name;
    this.writtenChannel = `${name}.written`;
    this.numberedChannel = `${name}.numbered`;
    this.pollMs = pollMs;
    this.random = options.random ?? systemRandom;
    this.log = options.log ?? silentLog;
    this.#publishedBy = publishedBy;
    this.#numbering = new Numbering({
      database,
      shape: outboxShape({ log: name, numberedChannel: this.numberedChannel, publishedBy }),
    });
  }

  /**
   * Writes events in the caller's transaction, in their order. Events of one key keep the order of their
   * commits only if the caller holds a lock per key, as it does on the resource it changes.
   */
  async append(sql: Transaction, events: readonly OutboxEvent[]): Promise<void> {
    if (events.length === 0) return;
    await sql.run(insertEvents, toColumns(events));
    sql.afterCommit(() => this.wakeups.wakeHere(this.writtenChannel));
  }

  /** Gives committed events their positions until `signal`: the first of some at once, while more come so many at a time. */
  async runNumbering(signal: AbortSignal): Promise<void> {
    using subscription = this.wakeups.subscribe(this.writtenChannel, {
      pollMs: this.pollMs,
      deafPollMs: this.pollMs,
    });
    const { random, log } = this;
    const { clock } = this.database;
    const name = `${this.name} numbering`;
    await runOnWake(
      { name, subscription, clock, random, log },
      async (signal) => {
        await this.numberAll(signal);
        await clock.sleep(restMs, signal);
      },
      signal,
    );
  }

  /** Gives positions to whatever is committed now; undefined when there was nothing. */
  async numberAll(signal: AbortSignal): Promise<Numbered | undefined> {
    const startMs = this.database.clock.monotonic();
    const numbered = await this.#numbering.numberAll(signal);
    if (numbered === undefined) return undefined;
    this.wakeups.wakeHere(this.numberedChannel);
    if (this.#publishedBy === "log") {
      const { outboxPublished, outboxPublishSeconds } = declareMetrics(this.database.metrics);
      const labels = { outbox: this.name };
      outboxPublished.add({ ...labels, result: "done" }, numbered.to - numbered.from + 1);
      const tookMs = this.database.clock.monotonic() - startMs;
      outboxPublishSeconds.observe(labels, tookMs / 1_000);
    }
    return numbered;
  }

  /** The events after a position, in order. */
  async read(
    page: { readonly after: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly NumberedEvent[]> {
    return (await this.database.run(readEvents, page, signal)).map(toEvent);
  }

  /** Removes up to `limit` events published longer ago than `retentionMs`, the oldest first; gives their number. */
  async purge(
    { retentionMs, limit = 1_000 }: { readonly retentionMs: number; readonly limit?: number },
    signal: AbortSignal,
  ): Promise<number> {
    const parameters = { log: this.name, retentionMs, limit };
    const [row] = await this.database.run(purgeEvents, parameters, signal);
    return row?.purged ?? 0;
  }

  /**
   * Puts backlog and age into the metrics, every `everyMs` until `signal`. While they cannot be had they are absent, and the
   * log says why: whatever it is, it ends nothing but the figures.
   */
  async runMeasuring(signal: AbortSignal, everyMs = 5_000): Promise<void> {
    const { outboxBacklog, outboxOldestAgeSeconds } = declareMetrics(this.database.metrics);
    const labels = { outbox: this.name };
    const loop = `${this.name} measuring`;
    let attempts = 0;
    while (!signal.aborted) {
      try {
        const [row] = await this.database.run(measureBacklog, undefined, signal);
        outboxBacklog.set(labels, row?.backlog ?? 0);
        outboxOldestAgeSeconds.set(labels, row?.oldest_seconds ?? 0);
        attempts = 0;
      } catch (error) {
        outboxBacklog.remove(labels);
        outboxOldestAgeSeconds.remove(labels);
        if (isCancellation(error, signal)) return;
        attempts += 1;
        this.log.warn({ loop, attempts, error }, "loop failed, trying again");
      }
      await this.database.clock.sleep(everyMs, signal).catch(() => {});
    }
  }
}
