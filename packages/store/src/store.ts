// The versioned object store: what a user of the package holds in hand.

import assert from "node:assert/strict";
import {
  type Clock,
  jsonEqual,
  type Log,
  type Metrics,
  noMetrics,
  type Random,
  silentLog,
  systemClock,
  systemRandom,
  TaskScope,
} from "@keelson/base";
import type { Backend, Bounds, LogEntry, Outcome, Row, Size, Write } from "./backend.ts";
import type { Body } from "./body.ts";
import { Change, Filter } from "./change.ts";
import { checkExpect, checkKey, checkScope, decoded, toColumns } from "./columns.ts";
import { CommitQueue, type Committed } from "./commit-queue.ts";
import { runCompaction } from "./compaction.ts";
import { AlreadyExists, Conflict, Expired, NotFound, Unavailable } from "./errors.ts";
import type { Key, Scope } from "./key.ts";
import { defaultLimits, type StoreLimits } from "./limits.ts";
import { LogFeed } from "./log-feed.ts";
import { LogReader } from "./log-reader.ts";
import { Measurements } from "./measurements.ts";
import { storeMetrics, type StoreMetrics } from "./metrics.ts";
import { ObjectCache } from "./object-cache.ts";
import { ObjectReads } from "./object-reads.ts";
import { OperationMeter } from "./operation-meter.ts";
import { type ListOptions, type Page, readPage, walk } from "./pages.ts";
import type { Expect, Revision } from "./revision.ts";
import type { Selector } from "./selector.ts";
import { type Watch, Watcher } from "./watch.ts";
import { WatchHub } from "./watch-hub.ts";

export interface StoreOptions {
  readonly backend: Backend;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  readonly metrics?: Metrics;
  readonly limits?: Partial<StoreLimits>;
}

export interface WatchOptions {
  readonly selector?: Selector;
  /** After this revision; or the state first, and then what comes after it. */
  readonly from: Revision | "state";
  /** How often a mark tells how far the stream has come; undefined: never. */
  readonly bookmarkEveryMs?: number;
  /** Whether a mark ends the initial state (`from: "state"`). */
  readonly initialEventsEnd?: boolean;
}

/**
 * Objects with revisions, and the log of their changes.
 *
 * Every method takes a signal and rejects with its reason; a write heeds it until
 * its transaction begins. Failures are `StoreError`s. Closing finishes the batch
 * in flight, ends the watches and releases the database.
 */
export class Store implements AsyncDisposable {
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #limits: StoreLimits;
  readonly #metrics: StoreMetrics;
  readonly #meter: OperationMeter;
  readonly #measurements: Measurements;
  readonly #cache: ObjectCache;
  readonly #reads: ObjectReads;
  readonly #reader: LogReader;
  readonly #hub: WatchHub;
  readonly #feed: LogFeed;
  readonly #queue: CommitQueue;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;
  readonly #scope: TaskScope;

  /** Begins at the database's head. The store owns the backend from here on, also if opening fails. */
  static async open(options: StoreOptions, signal: AbortSignal): Promise<Store> {
    try {
      return new Store(options, await options.backend.size(signal));
    } catch (error) {
      await options.backend[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(options: StoreOptions, size: Size) {
    const { head } = size;
    const { backend, clock = systemClock, random = systemRandom, log = silentLog } = options;
    this.#backend = backend;
    this.#clock = clock;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#metrics = storeMetrics(options.metrics ?? noMetrics);
    this.#meter = new OperationMeter(this.#metrics, clock);
    this.#metrics.headRevision.set(head);
    this.#measurements = new Measurements({
      backend,
      metrics: this.#metrics,
      clock,
      everyMs: this.#limits.measureEveryMs,
    });
    this.#measurements.show(size);
    this.#cache = new ObjectCache(this.#limits.cacheBytesMax);
    this.#reader = new LogReader({ backend, limits: this.#limits, cursor: head });
    this.#hub = new WatchHub({ reader: this.#reader, cursor: head });
    this.#reads = new ObjectReads({
      backend,
      cache: this.#cache,
      cursor: () => this.#hub.cursor,
      onBehind: () => {
        this.#feed.wake();
      },
    });
    const { pollMs } = this.#limits;
    this.#feed = new LogFeed({
      backend,
      hub: this.#hub,
      cache: this.#cache,
      clock,
      random,
      log,
      metrics: this.#metrics,
      pollMs,
      isCommitting: () => this.#queue.isRunning,
    });
    this.#queue = new CommitQueue({
      backend: {
        commit: (batch) => this.#commit(batch),
        commitsAside: (writes) => backend.commitsAside?.(writes) ?? false,
      },
      limits: this.#limits,
      onCommitted: (batch) => {
        this.#published(batch);
      },
      onUncertain: () => {
        this.#feed.wake();
      },
    });
    this.#scope = new TaskScope(this.#closing.signal);
    this.#scope.spawn("log feed", (signal) => this.#feed.run(signal));
    this.#scope.spawn("measurements", (signal) => this.#measurements.run(signal));
    const { compactionEveryMs } = this.#limits;
    if (compactionEveryMs !== undefined) {
      const compact = (upTo: Revision, signal: AbortSignal): Promise<void> =>
        this.compact(upTo, signal);
      this.#scope.spawn("compaction", (signal) =>
        runCompaction(
          { backend, compact, clock, log, holder: random.uuid(), everyMs: compactionEveryMs },
          signal,
        ),
      );
    }
  }

  /** Stores a new object. AlreadyExists if the name is taken. */
  create(key: Key, body: Body, signal: AbortSignal): Promise<Row> {
    return this.#meter.measure("create", key.kind, async () => {
      checkKey(key);
      const columns = toColumns(key, body);
      const outcome = await this.#queue.submit({ type: "create", key, body, columns }, signal);
      if (outcome.type === "exists") throw new AlreadyExists(key);
      return { key, body, uid: columns.uid, revision: revisionOf(outcome) };
    });
  }

  /** The object, with every write that completed before the call (S7). NotFound if there is none. */
  get(key: Key, signal: AbortSignal): Promise<Row> {
    const isOver = signal.aborted || this.#closing.signal.aborted;
    const known = isOver ? undefined : this.#reads.current(key);
    if (known !== undefined) {
      this.#meter.tell({ operation: "get", kind: key.kind, outcome: "ok" }, 0);
      return Promise.resolve(known);
    }
    return this.#meter.measure("get", key.kind, async () => {
      this.#assertOpen();
      checkKey(key);
      const row = await this.#reads.find(key, signal);
      if (row === undefined) throw new NotFound(key);
      return row;
    });
  }

  /**
   * The object as memory has it, which may be old where others write too: for a write that says which
   * revision it replaces, and so finds out.
   */
  recall(key: Key): Row | undefined {
    return this.#cache.get(key);
  }

  /** The revision of the object's last change. NotFound if there is none. */
  async revisionOf(key: Key, signal: AbortSignal): Promise<Revision> {
    return (await this.get(key, signal)).revision;
  }

  /**
   * Replaces the object, if it is still at the revision (and has the uid) that is
   * expected. An equal body writes nothing and answers the stored object (S14).
   */
  update(
    key: Key,
    change: {
      readonly body: Body;
      readonly expect: Expect & { readonly revision: Revision };
      /** The body at that revision, where the caller has read it: it is not read again. */
      readonly replaced?: Body;
    },
    signal: AbortSignal,
  ): Promise<Row> {
    return this.#meter.measure("update", key.kind, async () => {
      const { expect } = change;
      assert.ok(expect.revision !== undefined, "an update says which revision it replaces");
      checkKey(key);
      checkExpect(key, expect);
      const columns = toColumns(key, change.body);
      const replaced = change.replaced ?? (await this.#reads.bodyAt(key, expect.revision, signal));
      // The stored body if the new one is equal to it, in whatever order its members stand.
      const body = replaced !== undefined && isSame(replaced, change.body) ? replaced : change.body;
      const write: Write = { type: "update", key, body, columns, expect, replaced };
      const outcome = await this.#queue.submit(write, signal);
      throwRefusal(key, expect, outcome);
      return { key, body, uid: columns.uid, revision: revisionOf(outcome) };
    });
  }

  /** Removes the object, as `final` if given, and answers its last state with the revision of its deletion. */
  delete(
    key: Key,
    options: { readonly expect?: Expect; readonly final?: Body },
    signal: AbortSignal,
  ): Promise<Row> {
    return this.#meter.measure("delete", key.kind, async () => {
      const { expect = {}, final } = options;
      checkKey(key);
      checkExpect(key, expect);
      const outcome = await this.#queue.submit({ type: "delete", key, expect, final }, signal);
      throwRefusal(key, expect, outcome);
      const previous = outcome.type === "written" ? outcome.previous : undefined;
      const body = final ?? previous?.body;
      if (body === undefined || previous === undefined)
        throw new Error("a deletion leaves the last body");
      return { key, body, uid: previous.uid, revision: revisionOf(outcome) };
    });
  }

  /** One page of a collection; all pages of a list show one revision. Expired, TooNew as the options ask for. */
  list(scope: Scope, options: ListOptions, signal: AbortSignal): Promise<Page> {
    return this.#meter.measure("list", scope.kind, async () => {
      this.#assertOpen();
      checkScope(scope);
      return readPage(this.#backend, { scope, known: this.#reads.known, ...options }, signal);
    });
  }

  /**
   * Changes as they are committed. Resolves once the stream has begun; Expired if
   * the log no longer reaches back to `from`. A revision still to come is waited for.
   */
  watch(scope: Scope, options: WatchOptions, signal: AbortSignal): Promise<Watch> {
    return this.#meter.measure("watch", scope.kind, async () => {
      this.#assertOpen();
      checkScope(scope);
      const filter = new Filter(scope.kind, scope.namespace, options.selector ?? {});
      const both = AbortSignal.any([signal, this.#closing.signal]);
      const from =
        options.from === "state"
          ? await initialState(this.#backend, { scope, filter }, both)
          : options.from;
      if (typeof from === "number") {
        const { floor } = await this.#backend.bounds(both);
        if (from < floor) {
          this.#metrics.watchesExpired.add({ kind: scope.kind });
          throw new Expired(from, floor);
        }
      }
      return new Watcher(
        {
          hub: this.#hub,
          reader: this.#reader,
          clock: this.#clock,
          metrics: this.#metrics,
          filter,
          from,
          initialEventsEnd: options.initialEventsEnd ?? false,
          bookmarkEveryMs: options.bookmarkEveryMs,
          bufferMax: this.#limits.watchBufferMax,
        },
        both,
      );
    });
  }

  /** What the log still holds of an object, newest first. */
  history(
    key: Key,
    page: { readonly before?: Revision; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly LogEntry[]> {
    return this.#meter.measure("history", key.kind, async () => {
      this.#assertOpen();
      checkKey(key);
      const { before, limit } = page;
      const entries = await this.#backend.history(key, { before, limit }, signal);
      for (const { body, previous } of entries) {
        decoded(body);
        if (previous !== undefined) decoded(previous.body);
      }
      return entries;
    });
  }

  /** The newest committed revision. */
  async head(signal: AbortSignal): Promise<Revision> {
    return this.#backend.head(signal);
  }

  /** The newest revision, and the one from which the log is kept. */
  async bounds(signal: AbortSignal): Promise<Bounds> {
    return this.#backend.bounds(signal);
  }

  /** Resolves once this process has seen `revision` committed. */
  async reached(revision: Revision, signal: AbortSignal): Promise<void> {
    this.#feed.wake();
    await this.#hub.reached(revision, AbortSignal.any([signal, this.#closing.signal]));
  }

  /** Cuts the log at `upTo`, a little at a time so that writes pass between. */
  async compact(upTo: Revision, signal: AbortSignal): Promise<void> {
    const { cutEntries: entries, cutBytes: bytes } = this.#limits;
    for (;;) {
      const { done, floor } = await this.#backend.cut(upTo, { entries, bytes }, signal);
      this.#metrics.floorRevision.set(floor);
      if (done) break;
      await this.#clock.sleep(0, signal);
    }
    this.#feed.wake(); // The cut has moved the head.
    this.#measurements.show(await this.#backend.size(signal));
  }

  /**
   * Makes every revision handed out so far expire, after the database was restored to an
   * earlier state: whoever remembers one of the lost future lists again.
   */
  async leap(signal: AbortSignal): Promise<Bounds> {
    const bounds = await this.#backend.leap(signal);
    this.#feed.wake();
    return bounds;
  }

  /** How many objects there are of each kind. */
  async countByKind(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#backend.countByKind(signal);
  }

  /** Whether the database answers; throws Unavailable if not. */
  async ping(signal: AbortSignal): Promise<void> {
    try {
      await this.#backend.ping(signal);
    } catch (error) {
      // Who has left has not waited long enough to know.
      const hasLeft = signal.aborted && !isTimeUp(signal.reason);
      if (!hasLeft) this.#noteUp(false);
      throw error;
    }
    this.#noteUp(true);
  }

  /** Takes, or keeps, the right to do work that one process at a time may do. */
  async claim(
    name: string,
    request: { readonly holder: string; readonly ttlMs: number },
    signal: AbortSignal,
  ): Promise<{ readonly token: number } | undefined> {
    return this.#backend.claim(name, request, signal);
  }

  /** Gives such a right back. */
  async release(name: string, holder: string, signal: AbortSignal): Promise<void> {
    return this.#backend.release(name, holder, signal);
  }

  /** Closing again waits for the first time. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#queue.close();
      this.#closing.abort(new Unavailable("the store is closed"));
      await this.#scope[Symbol.asyncDispose]();
    } finally {
      await this.#backend[Symbol.asyncDispose](); // Whatever happens before: it holds the lock.
    }
  }

  #assertOpen(): void {
    this.#closing.signal.throwIfAborted();
  }

  async #commit(batch: readonly Write[]): ReturnType<Backend["commit"]> {
    const start = this.#clock.monotonic();
    try {
      return await this.#backend.commit(batch);
    } finally {
      this.#metrics.commitSeconds.observe((this.#clock.monotonic() - start) / 1000);
    }
  }

  #published(batch: Committed): void {
    this.#metrics.batchSize.observe(batch.writes.length);
    this.#feed.offer(batch);
  }

  #noteUp(isUp: boolean): void {
    this.#metrics.databaseUp.set(isUp ? 1 : 0);
    this.#measurements.heard({ isUp });
  }
}

/** The state of a collection as changes, from one snapshot, and the revision that it shows. */
async function initialState(
  backend: Backend,
  { scope, filter }: { readonly scope: Scope; readonly filter: Filter },
  signal: AbortSignal,
): Promise<{ revision: Revision; changes: AsyncIterator<readonly Change[]> }> {
  const stretches = walk(backend, { scope, selector: filter.selector }, signal);
  const first = await stretches.next();
  if (first.done === true) throw new Error("a walk has at least one stretch");
  const changes = (async function* () {
    yield first.value.rows.map((row) => added(row));
    for await (const { rows } of stretches) yield rows.map((row) => added(row));
  })();
  return { revision: first.value.revision, changes };
}

function added({ key, uid, revision, body }: Row): Change {
  return new Change({ type: "ADDED", revision, key, uid, body, previous: undefined });
}

function isTimeUp(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

function isSame(stored: Body, body: Body): boolean {
  // Written by one writer without blanks: equal values have texts of equal length.
  return stored.text.length === body.text.length && jsonEqual(stored.value, body.value);
}

function throwRefusal(key: Key, expect: Expect, outcome: Outcome): void {
  if (outcome.type === "missing") throw new NotFound(key);
  if (outcome.type === "conflict") throw new Conflict(key, expect, outcome.actual);
}

function revisionOf(outcome: Outcome): Revision {
  if (outcome.type === "written" || outcome.type === "unchanged") return outcome.revision;
  throw new Error(`a write that was refused has no revision: ${outcome.type}`);
}
