// Readers of the log, each with a cursor. What is new is read once per process and kept for a while; a reader
// that falls behind reads the database at its own pace, and nothing is queued for anybody.

import { isCancellation, onAbort } from "@keelson/base";
import { lastPosition } from "../sql/numbering.ts";
import { readEvents } from "../sql/outbox.ts";
import { runOnWake } from "../wake-loop.ts";
import { toEvent, type NumberedEvent } from "./event.ts";
import type { Outbox } from "./outbox.ts";

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

export interface TailOptions {
  readonly outbox: Outbox;
  /** How many of the latest events are kept in memory for all readers together. */
  readonly recentMax?: number;
  /** How many events one read of the database gives. */
  readonly batchMax?: number;
}

export class Tail {
  readonly #outbox: Outbox;
  readonly #recentMax: number;
  readonly #batchMax: number;
  /** The latest events, without a gap, ending at `#end`. */
  #recent: NumberedEvent[] = [];
  #end: number | undefined;
  #readers = 0;
  #changed = Promise.withResolvers<void>();

  constructor({ outbox, recentMax = 2_000, batchMax = 500 }: TailOptions) {
    this.#outbox = outbox;
    this.#recentMax = recentMax;
    this.#batchMax = batchMax;
  }

  /** Follows the log for the readers of this process until `signal`. */
  async run(signal: AbortSignal): Promise<void> {
    const { wakeups, numberedChannel, pollMs, database, random, log, name } = this.#outbox;
    using subscription = wakeups.subscribe(numberedChannel, { pollMs, deafPollMs: pollMs });
    await runOnWake(
      { name: `${name} tail`, subscription, clock: database.clock, random, log },
      (signal) => this.#advance(signal),
      signal,
    );
  }

  /** The position after which a reader that wants only what comes from now on starts. */
  async now(signal: AbortSignal): Promise<number> {
    const [row] = await this.#outbox.database.run(lastPosition, this.#outbox.name, signal);
    return Number(row?.last_position ?? 0);
  }

  /**
   * Every event after `position`, in order, without gap or repetition, until `signal`, at which it just ends.
   * Throws `CursorExpired` when retention has overtaken the reader, now or later.
   */
  async *follow(position: number, signal: AbortSignal): AsyncGenerator<readonly NumberedEvent[]> {
    this.#readers++;
    try {
      let cursor = position;
      await this.#assertKnown(cursor, signal);
      while (!signal.aborted) {
        const changed = this.#changed.promise;
        const events = await this.#after(cursor, signal);
        const last = events.at(-1);
        if (last === undefined) {
          await raceAbort(changed, signal);
          continue;
        }
        yield events;
        cursor = last.position;
      }
    } catch (error) {
      if (!isCancellation(error, signal)) throw error;
    } finally {
      this.#readers--;
    }
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
      const rows = await this.#outbox.database.run(
        readEvents,
        { after: this.#end, limit: this.#batchMax },
        signal,
      );
      const events = rows.map(toEvent);
      this.#recent.push(...events);
      this.#recent.splice(0, this.#recent.length - this.#recentMax);
      this.#end = events.at(-1)?.position ?? this.#end;
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
      if (events.length < this.#batchMax) return;
    }
  }

  async #after(cursor: number, signal: AbortSignal): Promise<readonly NumberedEvent[]> {
    const first = this.#recent[0];
    if (first !== undefined && first.position <= cursor + 1) {
      return this.#recent.slice(
        cursor + 1 - first.position,
        cursor + 1 - first.position + this.#batchMax,
      );
    }
    if (this.#end === cursor) return [];
    const { database } = this.#outbox;
    const rows = await database.run(readEvents, { after: cursor, limit: this.#batchMax }, signal);
    // After the events were read: had any after the cursor been removed before, the mark would show it.
    await this.#assertKnown(cursor, signal);
    return rows.map(toEvent);
  }

  async #assertKnown(cursor: number, signal: AbortSignal): Promise<void> {
    const { database, name } = this.#outbox;
    const [row] = await database.run(lastPosition, name, signal);
    const isPurged = cursor < Number(row?.purged_position ?? 0);
    const isUnknown = cursor > Number(row?.last_position ?? 0);
    if (isPurged || isUnknown) throw new CursorExpired(cursor);
  }
}

async function raceAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  using _abort = onAbort(signal, resolve);
  await Promise.race([promise, aborted]);
}
