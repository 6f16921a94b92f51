// The log of what happened: written with each change, numbered after the commit, read by whoever follows.

import { silentLog, systemRandom, TaskScope, type Log, type Random } from "@keelson/base";
import {
  Numbering,
  runOnWake,
  Tail,
  type Database,
  type TailSource,
  type Wakeups,
} from "@keelson/database";
import {
  eventLogName,
  eventLogShape,
  eventsNumberedChannel,
  pruneEvents,
  readEvents,
  type EventRow,
} from "../sql/events.ts";
import { eventsWrittenChannel } from "../work-bell.ts";

/** An event as everybody reads it. Its text is made once for all readers. */
export interface FleetEvent {
  readonly position: number;
  readonly type: string;
  readonly resourceId: number | undefined;
  /** Undefined: it concerns no single cluster. */
  readonly clusterId: string | undefined;
  /** The event as a stream of server-sent events carries it. */
  readonly text: string;
}

/** Between two numberings: each is a transaction, and costs as much for one event as for fifty. */
const restMs = 20;

export interface EventLogOptions {
  readonly database: Database;
  readonly wakeups: Wakeups;
  /** How often to look without being woken: nobody calls for what is written by plain SQL. */
  readonly pollMs?: number;
  /** After how long without an event a reader is given an empty batch. */
  readonly idleMs?: number;
  readonly random?: Random;
  readonly log?: Log;
}

/**
 * Any number of processes number at once, and none makes a writer wait. No id ever appears below one that was already
 * read, and there are no gaps.
 */
export class EventLog implements TailSource<FleetEvent> {
  readonly database: Database;
  readonly wakeups: Wakeups;
  readonly name = eventLogName;
  readonly numberedChannel = eventsNumberedChannel;
  readonly pollMs: number;
  readonly random: Random;
  readonly log: Log;
  readonly #numbering: Numbering;
  readonly #tail: Tail<FleetEvent>;

  constructor(options: EventLogOptions) {
    const { database, pollMs = 1_000, idleMs = 5_000 } = options;
    this.database = database;
    this.wakeups = options.wakeups;
    this.pollMs = pollMs;
    this.random = options.random ?? systemRandom;
    this.log = options.log ?? silentLog;
    this.#numbering = new Numbering({ database, shape: eventLogShape });
    this.#tail = new Tail({ source: this, idleMs });
  }

  /** Numbers events, and reads them once for all who follow, until `signal`. */
  async run(signal: AbortSignal): Promise<void> {
    await using scope = new TaskScope(signal);
    scope.spawn("numbering of events", (within) => this.#runNumbering(within));
    scope.spawn("tail of events", (within) => this.#tail.run(within));
    await scope.join();
  }

  /** The id of the last event until now: what is committed and not numbered yet is numbered first. */
  async now(signal: AbortSignal): Promise<number> {
    await this.numberAll(signal);
    return this.#tail.now(signal);
  }

  /**
   * Every event after an id, in order, without gap or repetition, until `signal`, at which it just ends. Throws
   * `CursorExpired` where the log does not go on from there.
   */
  follow(after: number, signal: AbortSignal): AsyncGenerator<readonly FleetEvent[]> {
    return this.#tail.follow(after, signal);
  }

  async numberAll(signal: AbortSignal): Promise<void> {
    const numbered = await this.#numbering.numberAll(signal);
    if (numbered !== undefined) this.wakeups.wakeHere(this.numberedChannel);
  }

  async read(
    page: { readonly after: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly FleetEvent[]> {
    return (await this.database.run(readEvents, page, signal)).map(toEvent);
  }

  /** Removes up to `limit` events older than the retention, the oldest first; gives their number. */
  async prune(
    { retentionMs, limit = 1_000 }: { readonly retentionMs: number; readonly limit?: number },
    signal: AbortSignal,
  ): Promise<number> {
    const [row] = await this.database.run(pruneEvents, { retentionMs, limit }, signal);
    return row?.pruned ?? 0;
  }

  /** The first of some events is numbered at once; while more come, so many at a time. */
  async #runNumbering(signal: AbortSignal): Promise<void> {
    const { pollMs, random, log } = this;
    const { clock } = this.database;
    using subscription = this.wakeups.subscribe(eventsWrittenChannel, {
      pollMs,
      deafPollMs: pollMs,
    });
    await runOnWake(
      { name: "numbering of events", subscription, clock, random, log },
      async (within) => {
        await this.numberAll(within);
        await clock.sleep(restMs, within);
      },
      signal,
    );
  }
}

function toEvent({ id, type, resource_id, cluster_id, body }: EventRow): FleetEvent {
  return {
    position: Number(id),
    type,
    resourceId: resource_id ?? undefined,
    clusterId: cluster_id ?? undefined,
    text: `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`,
  };
}
