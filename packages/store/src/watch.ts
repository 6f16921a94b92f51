// One watcher: initial state, then the log, then the live feed; back to the log whenever it is too slow.

import type { Clock } from "@keelson/base";
import type { Bookmark, Change, Filter } from "./change.ts";
import { Delivery } from "./delivery.ts";
import { Corrupt, Expired } from "./errors.ts";
import type { LogReader } from "./log-reader.ts";
import type { StoreMetrics } from "./metrics.ts";
import type { Revision } from "./revision.ts";
import type { Subscriber, WatchHub } from "./watch-hub.ts";

export type WatchItem = Change | Bookmark;

/**
 * The changes of a collection, each once, in order, none left out (S9).
 *
 * The stream ends, without an error, with its signal, with the store, or when it
 * is disposed of. It fails with Expired if compaction overtakes it, and passes on
 * the database's failures: its position then says where to resume.
 */
export interface Watch extends AsyncIterable<WatchItem>, Disposable {
  /** Everything at or below this revision that the watcher should see has been handed out; 0: the state has not. */
  readonly position: Revision;
  /** Whether the watcher reads the log because it is not level with the live feed. */
  readonly isBehind: boolean;
  /**
   * Whether this process has yet to publish what comes before the stream: it began at a revision that is still to come, or
   * with a state that is newer than what is published here. But for that state, it is silent until then.
   */
  readonly isAhead: boolean;
  /**
   * What comes next, at least one item; undefined at the end. One call at a time. Asking for more says that what came before
   * has been passed on: how long that took is measured.
   */
  next(): Promise<readonly WatchItem[] | undefined>;
  /** The same stream, as many items at a time as there are: for readers that write to a socket. */
  batches(): AsyncGenerator<readonly WatchItem[]>;
}

const nothing: readonly Delivery[] = [];

/** What `next` answers: at least one item; undefined at the end. */
type NextItems = readonly WatchItem[] | undefined;

/** The state a watch begins with, in stretches, all as of one revision. */
export interface InitialState {
  readonly revision: Revision;
  readonly changes: AsyncIterator<readonly Change[]>;
}

interface Options {
  readonly hub: WatchHub;
  readonly reader: LogReader;
  readonly clock: Clock;
  readonly metrics: StoreMetrics;
  readonly filter: Filter;
  /** Where the stream begins: after this revision, or with a state. */
  readonly from: Revision | InitialState;
  /** Whether the end of the initial state is marked. */
  readonly initialEventsEnd: boolean;
  /** How often a mark tells how far the stream has come; undefined: never. */
  readonly bookmarkEveryMs: number | undefined;
  readonly bufferMax: number;
}

/**
 * A watcher holds at most `bufferMax` changes. When they become more it is
 * *behind*: it forgets its buffer, reads the log at its own pace and rejoins the
 * live feed when level (S10). A slow one delays nobody.
 */
export class Watcher implements Watch, Subscriber {
  readonly filter: Filter;
  readonly #options: Options;
  readonly #signal: AbortSignal;
  /** Everything at or below it has been handed out. */
  #position: Revision;
  #initial: InitialState | undefined;
  #isLive = false;
  #buffer: Change[] = [];
  /** The batches that are in the buffer, and those that were handed out last. */
  #buffered: Delivery[] = [];
  #inHand: readonly Delivery[] = nothing;
  #failure: Error | undefined;
  #isOver = false;
  #isBookmarkDue = false;
  #bookmarkTimer: Disposable | undefined;
  /** Whoever waits in `next` for a live change. */
  #waiter: ((items: NextItems | Promise<NextItems>) => void) | undefined;

  constructor(options: Options, signal: AbortSignal) {
    this.filter = options.filter;
    this.#options = options;
    this.#signal = signal;
    this.#initial = typeof options.from === "number" ? undefined : options.from;
    this.#position = typeof options.from === "number" ? options.from : options.from.revision;
    options.metrics.watchesActive.add(1);
    options.metrics.watchesBehind.add(1);
    signal.addEventListener("abort", this.#end, { once: true });
    if (signal.aborted) this.#end();
    else this.#scheduleBookmark();
  }

  get position(): Revision {
    // Before the whole state was handed out there is nothing to resume from: zero has always expired.
    if (this.#initial !== undefined) return 0;
    // Level and nothing waiting: what the hub has published since did not concern us.
    const isLevel = this.#isLive && this.#buffer.length === 0;
    return isLevel ? Math.max(this.#position, this.#options.hub.cursor) : this.#position;
  }

  get isBehind(): boolean {
    return !this.#isLive;
  }

  get isAhead(): boolean {
    return this.#position > this.#options.hub.cursor;
  }

  next(): Promise<NextItems> {
    if (this.#inHand !== nothing) this.#passedOn();
    // Not an async function: a thousand watchers that are level each pay for every promise in between.
    if (!this.#isLive || this.#isOver) return this.#nextBehind();
    if (this.#buffer.length > 0) return Promise.resolve(this.#takeBuffer());
    if (this.#isBookmarkDue) return Promise.resolve(this.#takeBookmark());
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchItem> {
    for await (const items of this.batches()) yield* items;
  }

  async *batches(): AsyncGenerator<readonly WatchItem[]> {
    try {
      for (let items = await this.next(); items !== undefined; items = await this.next()) {
        yield items;
      }
    } finally {
      this.#end();
    }
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  push(changes: readonly Change[], cursorBefore: Revision, delivery: Delivery): void {
    if (this.#buffer.length === 0) this.#position = Math.max(this.#position, cursorBefore);
    // A watch may begin at a revision that is still to come.
    const isNew = (changes[0]?.revision ?? 0) > this.#position;
    const fresh = isNew ? changes : changes.filter(({ revision }) => revision > this.#position);
    const last = fresh.at(-1);
    if (last === undefined) return;
    if (this.#waiter !== undefined) {
      // Handed on as it is: watchers that keep up share the array, and hold nothing.
      this.#position = last.revision;
      delivery.hold();
      this.#inHand = delivery.alone;
      this.#resume(fresh);
      return;
    }
    if (this.#buffer.length + fresh.length > this.#options.bufferMax) {
      this.#leaveLive();
    } else {
      this.#buffer.push(...fresh);
      delivery.hold();
      this.#buffered.push(delivery);
    }
  }

  fallBehind(cursorBefore: Revision): void {
    if (this.#buffer.length === 0) this.#position = Math.max(this.#position, cursorBefore);
    this.#leaveLive();
  }

  fail(error: unknown): void {
    this.#failure =
      error instanceof Error ? error : new Error("the watch failed", { cause: error });
    if (error instanceof Corrupt) this.#options.metrics.corrupt.add(1);
    if (error instanceof Expired) {
      this.#options.metrics.watchesExpired.add({ kind: this.filter.kind });
    }
    this.#end();
  }

  /** Reads the initial state and the log until there is something to hand out, or the watcher is level. */
  async #nextBehind(): Promise<NextItems> {
    while (!this.#isOver) {
      if (this.#isLive) return this.next();
      try {
        const items = await (this.#initial === undefined
          ? this.#takeFromLog()
          : this.#takeInitial(this.#initial));
        if (items.length > 0) return items;
      } catch (error) {
        if (!this.#signal.aborted) this.fail(error);
      }
    }
    if (this.#failure !== undefined) throw this.#failure;
    return undefined;
  }

  async #takeInitial(initial: InitialState): Promise<readonly WatchItem[]> {
    const { done, value } = await initial.changes.next();
    if (done !== true) return value;
    this.#initial = undefined;
    if (!this.#options.initialEventsEnd) return [];
    return [{ type: "BOOKMARK", revision: initial.revision, initialEventsEnd: true }];
  }

  async #takeFromLog(): Promise<readonly WatchItem[]> {
    const { hub, reader, metrics } = this.#options;
    if (this.#position < hub.cursor) {
      const { changes, through } = await reader.after(this.#position, this.#signal);
      const seen = changes
        .map((change) => this.filter.see(change))
        .filter((change) => change !== undefined);
      this.#position = through; // Only now: a read that failed must not move it.
      if (seen.length > 0) return this.#readFromLog(seen);
      return this.#isBookmarkDue && !this.#isOver ? this.#takeBookmark() : [];
    }
    // Level. Nothing can be published between the comparison and the subscription.
    this.#isLive = true;
    metrics.watchesBehind.add(-1);
    hub.subscribe(this);
    return [];
  }

  #takeBuffer(): readonly WatchItem[] {
    const changes = this.#buffer;
    this.#buffer = [];
    this.#inHand = this.#buffered;
    this.#buffered = [];
    this.#position = changes.at(-1)?.revision ?? this.#position;
    return changes;
  }

  /** Changes that waited for this watcher alone, the oldest one the longest. */
  #readFromLog(changes: readonly Change[]): readonly Change[] {
    const committedAt = changes[0]?.committedAt;
    if (committedAt === undefined || this.#isOver) return changes;
    const delivery = new Delivery(committedAt, this.#options);
    delivery.hold();
    this.#inHand = delivery.alone;
    return changes;
  }

  #passedOn(): void {
    for (const delivery of this.#inHand) delivery.release();
    this.#inHand = nothing;
  }

  #forgetBuffer(): void {
    this.#buffer = [];
    for (const delivery of this.#buffered) delivery.drop();
    this.#buffered = [];
  }

  #takeBookmark(): readonly WatchItem[] {
    this.#isBookmarkDue = false;
    this.#scheduleBookmark();
    return [{ type: "BOOKMARK", revision: this.position, initialEventsEnd: false }];
  }

  #leaveLive(): void {
    this.#options.hub.unsubscribe(this);
    this.#forgetBuffer();
    this.#isLive = false;
    this.#options.metrics.watchesBehind.add(1);
    if (this.#waiter !== undefined) this.#resume(this.next());
  }

  /** Answers the call of `next` that waits. */
  #resume(items: NextItems | Promise<NextItems>): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.(items);
  }

  #scheduleBookmark(): void {
    const { bookmarkEveryMs, clock } = this.#options;
    if (bookmarkEveryMs === undefined) return;
    this.#bookmarkTimer = clock.after(bookmarkEveryMs, () => {
      // S12: nothing can be handed out before a revision that is still to come.
      if (this.isAhead) return this.#scheduleBookmark();
      this.#isBookmarkDue = true;
      if (this.#waiter !== undefined) this.#resume(this.#takeBookmark());
    });
  }

  readonly #end = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener("abort", this.#end);
    this.#options.metrics.watchesActive.add(-1);
    if (!this.#isLive) this.#options.metrics.watchesBehind.add(-1);
    this.#options.hub.unsubscribe(this);
    // Settled before the buffer goes: what waits in it was not handed out, and a resumed watch must carry it.
    this.#position = this.position;
    this.#isLive = false;
    this.#bookmarkTimer?.[Symbol.dispose]();
    this.#forgetBuffer();
    for (const delivery of this.#inHand) delivery.drop();
    this.#inHand = nothing;
    if (this.#waiter !== undefined) this.#resume(this.next());
  };
}
