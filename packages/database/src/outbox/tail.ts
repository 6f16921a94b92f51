// Readers of the log, each with a cursor. What is new is read once per process and kept for a while; a reader
// that falls behind reads the database at its own pace, and nothing is queued for anybody.

import { isCancellation, onAbort, type Clock, type Log, type Random } from "@keelson/base";
import type { Database } from "../database.ts";
import { lastPosition } from "../sql/numbering.ts";
import { runOnWake } from "../wake-loop.ts";
import type { Wakeups } from "../wakeups.ts";

/** The events right after a cursor are gone, or were never there: list again and follow from now. */
export class CursorExpired extends Error {
  override readonly name = "CursorExpired";
  readonly code = "CURSOR_EXPIRED";
  readonly position: number;

  constructor(position: number) {
    super(`the log does not go on from position ${position}`);
    this.position = position;
  }
}

/** A log whose rows have positions without a gap: an outbox, or another table that a `Numbering` fills. */
export interface TailSource<Row extends { readonly position: number }> {
  readonly database: Database;
  readonly wakeups: Wakeups;
  /** What the log is called in the table `numbering`. */
  readonly name: string;
  /** Woken, in all processes, when rows have got their positions. */
  readonly numberedChannel: string;
  readonly pollMs: number;
  readonly random: Random;
  readonly log: Log;
  /** The rows after a position, in order, so many at most. */
  read(
    page: { readonly after: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly Row[]>;
}

export interface TailOptions<Row extends { readonly position: number }> {
  readonly source: TailSource<Row>;
  /** How many of the latest events are kept in memory for all readers together. */
  readonly recentMax?: number;
  /** How many events one read of the database gives. */
  readonly batchMax?: number;
  /** A reader that has waited so long gets an empty batch, so that it can say that it is still there. */
  readonly idleMs?: number;
}

export class Tail<Row extends { readonly position: number }> {
  readonly #source: TailSource<Row>;
  readonly #recentMax: number;
  readonly #batchMax: number;
  readonly #idleMs: number;
  /** The latest events, without a gap, ending at `#end`. */
  #recent: Row[] = [];
  #end: number | undefined;
  #readers = 0;
  #changed = Promise.withResolvers<void>();

  constructor({
    source,
    recentMax = 2_000,
    batchMax = 500,
    idleMs = Number.POSITIVE_INFINITY,
  }: TailOptions<Row>) {
    this.#source = source;
    this.#recentMax = recentMax;
    this.#batchMax = batchMax;
    this.#idleMs = idleMs;
  }

  /** Follows the log for the readers of this process until `signal`. */
  async run(signal: AbortSignal): Promise<void> {
    const { wakeups, numberedChannel, pollMs, database, random, log, name } = this.#source;
    using subscription = wakeups.subscribe(numberedChannel, { pollMs, deafPollMs: pollMs });
    await runOnWake(
      { name: `${name} tail`, subscription, clock: database.clock, random, log },
      (signal) => this.#advance(signal),
      signal,
    );
  }

  /** The position after which a reader that wants only what comes from now on starts. */
  async now(signal: AbortSignal): Promise<number> {
    const { database, name } = this.#source;
    const [row] = await database.run(lastPosition, name, signal);
    return Number(row?.last_position ?? 0);
  }

  /**
   * Every event after `position`, in order, without gap or repetition, until `signal`, at which it just ends. A reader
   * that is slow holds one batch and no more: nothing is read for it before it asks.
   * Throws `CursorExpired` when retention has overtaken the reader, now or later.
   */
  async *follow(position: number, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
    this.#readers++;
    try {
      const { clock } = this.#source.database;
      let cursor = position;
      let toldMs = clock.monotonic();
      await this.assertKnown(cursor, signal);
      while (!signal.aborted) {
        const changed = this.#changed.promise;
        const events = await this.#after(cursor, signal);
        // From the last batch on: a poll that finds nothing changes nothing for the reader.
        const leftMs = toldMs + this.#idleMs - clock.monotonic();
        if (events.length === 0 && leftMs > 0) {
          await changedWithin(changed, { clock, ms: leftMs }, signal);
          continue;
        }
        yield events;
        cursor = events.at(-1)?.position ?? cursor;
        toldMs = clock.monotonic();
      }
    } catch (error) {
      if (!isCancellation(error, signal)) throw error;
    } finally {
      this.#readers--;
    }
  }

  /** Throws `CursorExpired` unless the log goes on from `cursor`: for whoever wants to know before reading. */
  async assertKnown(cursor: number, signal: AbortSignal): Promise<void> {
    const { database, name } = this.#source;
    const [row] = await database.run(lastPosition, name, signal);
    const isPurged = cursor < Number(row?.purged_position ?? 0);
    const isUnknown = cursor > Number(row?.last_position ?? 0);
    if (isPurged || isUnknown) throw new CursorExpired(cursor);
  }

  /** Reads what is new, if anybody wants it. */
  async #advance(signal: AbortSignal): Promise<void> {
    if (this.#readers === 0) {
      this.#end = undefined; // Nobody reads: whoever comes starts from the database.
      this.#recent = [];
      return;
    }
    for (;;) {
      this.#end ??= await this.now(signal);
      const page = { after: this.#end, limit: this.#batchMax };
      const events = await this.#source.read(page, signal);
      if (events.length === 0) await this.#noteLoss(this.#end, signal);
      this.#recent.push(...events);
      this.#recent.splice(0, this.#recent.length - this.#recentMax);
      this.#end = events.at(-1)?.position ?? this.#end;
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
      if (events.length < this.#batchMax) return;
    }
  }

  /**
   * Where the log ends before what was read of it, its database was restored, or another took over that lacked the last
   * rows. Their positions come again, with other rows: whoever is beyond must hear that its place is gone.
   */
  async #noteLoss(end: number, signal: AbortSignal): Promise<void> {
    const { log, name } = this.#source;
    const last = await this.now(signal);
    if (last >= end) return;
    log.warn({ log: name, end, last }, "the log went back: who has read further lists again");
    this.#recent = [];
    this.#end = last;
  }

  async #after(cursor: number, signal: AbortSignal): Promise<readonly Row[]> {
    const first = this.#recent[0];
    if (first !== undefined && first.position <= cursor + 1) {
      return this.#recent.slice(
        cursor + 1 - first.position,
        cursor + 1 - first.position + this.#batchMax,
      );
    }
    if (this.#end === cursor) return [];
    const rows = await this.#source.read({ after: cursor, limit: this.#batchMax }, signal);
    // After the events were read: had any after the cursor been removed before, the mark would show it.
    await this.assertKnown(cursor, signal);
    return rows;
  }
}

/** Resolves when something has changed, the time is up, or `signal` aborts. */
async function changedWithin(
  changed: Promise<void>,
  { clock, ms }: { readonly clock: Clock; readonly ms: number },
  signal: AbortSignal,
): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  using _abort = onAbort(signal, resolve);
  using _timer = clock.after(ms, resolve);
  await Promise.race([changed, over]);
}
