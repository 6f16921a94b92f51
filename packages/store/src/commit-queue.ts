// Group commit: writes that arrive while a commit runs share the next transaction.

import { setImmediate } from "node:timers";
import { LinkedList, onAbort, type Place } from "@keelson/base";
import type { Backend, Outcome, Write } from "./backend.ts";
import { StoreError, Unavailable } from "./errors.ts";
import { keyText } from "./key.ts";
import type { Revision } from "./revision.ts";

export interface CommitLimits {
  /** Writes in one transaction. */
  readonly batchWritesMax: number;
  /** Characters of bodies in one transaction; a single larger write still goes, alone. */
  readonly batchTextMax: number;
  /** Writes waiting for their transaction; beyond it a write is refused with Unavailable. */
  readonly queuedWritesMax: number;
  /** Characters of their bodies; beyond it likewise. */
  readonly queuedTextMax: number;
}

/** A batch as it was committed. */
export interface Committed {
  readonly writes: readonly Write[];
  readonly outcomes: readonly Outcome[];
  readonly head: Revision;
}

interface Options {
  readonly backend: Pick<Backend, "commit" | "commitsAside">;
  readonly limits: CommitLimits;
  /** Sees each batch after it is durable and before any of its writers hears of it. */
  readonly onCommitted: (batch: Committed) => void;
  /** Sees a batch of which nobody knows whether it was committed. */
  readonly onUncertain: () => void;
}

interface Pending {
  readonly write: Write;
  readonly key: string;
  readonly textSize: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal;
  /** The wait for the signal, where one can be noticed; from its end on the write runs to its own. */
  wait: Disposable | undefined;
  place: Place<Pending> | undefined;
}

/**
 * Gathers writes into batches, in the order the writes came. One batch is under way at a time, unless the backend commits aside:
 * then the next one waits behind it there, and need not wait for us.
 */
export class CommitQueue {
  readonly #options: Options;
  readonly #pending = new LinkedList<Pending>();
  #pendingText = 0;
  readonly #underWay = new Map<readonly Pending[], Promise<void>>();
  /** What those batches write: a second write to an object waits for the first. */
  readonly #keysUnderWay = new Set<string>();
  #isScheduled = false;
  /** Whether all that wait are second writes: until a batch ends they need not be looked at again. */
  #isFutile = false;
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether a batch is under way, or about to be. */
  get isRunning(): boolean {
    return this.#underWay.size > 0 || this.#pending.size > 0;
  }

  /**
   * Commits a write, together with whatever else is waiting. The signal counts
   * until the batch begins: a write that has begun runs to its end.
   */
  submit(write: Write, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    if (this.#closed) throw new Unavailable("the store is closed");
    const { queuedWritesMax, queuedTextMax } = this.#options.limits;
    if (this.#pending.size >= queuedWritesMax || this.#pendingText > queuedTextMax) {
      throw new Unavailable(`${this.#pending.size} writes are waiting already`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    const pending: Pending = {
      write,
      key: keyText(write.key),
      textSize: textSize(write),
      resolve,
      reject,
      signal,
      wait: undefined,
      place: undefined,
    };
    pending.place = this.#pending.push(pending);
    this.#pendingText += pending.textSize;
    if (!this.#keysUnderWay.has(pending.key)) this.#isFutile = false;
    if (this.#underWay.size > 0) this.#listen(pending);
    this.#schedule();
    return promise;
  }

  /** Refuses new writes and those that wait, finishes the batches under way. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const pending of this.#pending) {
      this.#remove(pending);
      pending.reject(new Unavailable("the store is closing"));
    }
    await Promise.all(this.#underWay.values());
  }

  /**
   * Begins a batch after the turn's I/O: requests that arrived together commit together, and a synchronous
   * database lets everybody else in between its batches. Where they are committed aside, many do not wait for the rest: a turn
   * with the requests of many clients takes longer than a commit.
   */
  #schedule(): void {
    if (!this.#isFutile && this.#isEnoughAside()) this.#isFutile = !this.#begin();
    if (this.#isScheduled || this.#underWay.size > 0 || this.#pending.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#underWay.size === 0) this.#begin();
    });
  }

  /** Behind what is under way as many writes wait as that has: each batch costs a sync, and the slower those are, the larger batches are. */
  #isEnoughAside(): boolean {
    const waiting = this.#pending.size;
    if (waiting < Math.max(asideWritesMin, this.#keysUnderWay.size)) return false;
    if (this.#underWay.size >= asideBatchesMax) return false;
    return this.#options.backend.commitsAside?.(waiting) ?? false;
  }

  /** Answers whether there was something to commit. */
  #begin(): boolean {
    const batch = this.#takeBatch();
    if (batch.length === 0) return false;
    // Who is left waits for as long as the commit takes, unless it gives up. Whoever is in the batch of its own
    // turn is spared a listener, which costs more than all else here.
    for (const pending of this.#pending) this.#listen(pending);
    for (const { key } of batch) this.#keysUnderWay.add(key);
    const committing = this.#commit(batch).then(() => {
      this.#underWay.delete(batch);
      for (const { key } of batch) this.#keysUnderWay.delete(key);
      this.#isFutile = false;
      this.#schedule();
    });
    this.#underWay.set(batch, committing);
    return true;
  }

  #listen(pending: Pending): void {
    const { signal, reject } = pending;
    pending.wait ??= onAbort(signal, () => {
      this.#remove(pending);
      reject(signal.reason);
    });
  }

  async #commit(batch: readonly Pending[]): Promise<void> {
    const writes = batch.map(({ write }) => write);
    let committed: Awaited<ReturnType<Backend["commit"]>>;
    try {
      committed = await this.#options.backend.commit(writes);
    } catch (error) {
      this.#options.onUncertain();
      // S6: one write that the database cannot take must not take the others with it.
      const isOneToBlame = batch.length > 1 && !(error instanceof StoreError);
      if (isOneToBlame) for (const each of batch) await this.#commit([each]);
      else for (const { reject } of batch) reject(error);
      return;
    }
    const { head, outcomes } = committed;
    try {
      this.#options.onCommitted({ writes, outcomes, head });
    } finally {
      // It is durable, whatever became of the telling: a bug there ends the process, and must not have a writer believe otherwise.
      batch.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error("the backend lost an outcome"));
        else resolve(outcome);
      });
    }
  }

  /** The longest run of waiting writes that fits, each object at most once: a second write waits. */
  #takeBatch(): Pending[] {
    const { batchWritesMax, batchTextMax } = this.#options.limits;
    const batch: Pending[] = [];
    const keys = new Set<string>();
    let text = 0;
    for (const pending of this.#pending) {
      const { key, signal } = pending;
      if (signal.aborted) {
        this.#remove(pending);
        pending.reject(signal.reason);
        continue;
      }
      if (keys.has(key) || this.#keysUnderWay.has(key)) continue;
      text += pending.textSize;
      const isFull = batch.length > 0 && text > batchTextMax;
      if (isFull || batch.length >= batchWritesMax) break;
      keys.add(key);
      batch.push(pending);
      this.#remove(pending);
    }
    return batch;
  }

  #remove(pending: Pending): void {
    if (pending.place === undefined) return;
    this.#pending.remove(pending.place);
    pending.place = undefined;
    this.#pendingText -= pending.textSize;
    pending.wait?.[Symbol.dispose]();
  }
}

/** So many writes begin a batch at once where it is committed aside. */
const asideWritesMin = 8;
/** So many batches are under way there: one that is written, and one that need not wait for us. */
const asideBatchesMax = 2;

function textSize(write: Write): number {
  return (write.type === "delete" ? write.final?.text.length : write.body.text.length) ?? 0;
}
