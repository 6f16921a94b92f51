// Who runs the transactions: whoever asks, in its own turn, or a thread of its own where there is much to write.

import type { Bounds, CutLimits } from "../backend.ts";
import type { Revision } from "../revision.ts";
import type { CommittedBatch, PlainWrite, Transactions } from "./transactions.ts";
import { WriterThread } from "./writer-thread.ts";

/**
 * From how many writes on the thread is asked. To ask it and to hear from it takes about as long as a few writes; beyond, the
 * statements and the wait for the disk keep nobody here from answering.
 */
const threadWritesMin = 6;

/**
 * One transaction at a time (S2): what runs here runs in one turn, and only while the thread rests. Both connections are to the
 * same file, and each is told what the other has written.
 */
export class Writer implements AsyncDisposable {
  readonly #here: Transactions;
  readonly #thread: WriterThread | undefined;

  /** Without a path there is no thread: for a database in memory, and for hooks that must see every statement. */
  constructor(here: Transactions, path: string | undefined) {
    this.#here = here;
    const learn = (bounds: Bounds): void => here.learn(bounds);
    this.#thread = path === undefined ? undefined : new WriterThread({ path, learn });
  }

  /** As of the last transaction of which this thread has heard. */
  get bounds(): Bounds {
    return this.#here.bounds;
  }

  /** Whether nothing can be committed before this turn ends. */
  get isResting(): boolean {
    return this.#thread?.isBusy !== true;
  }

  /** Whether the thread would commit so many, and not this one. */
  commitsAside(writes: number): boolean {
    return this.#threadFor(writes) !== undefined;
  }

  async commit(batch: readonly PlainWrite[], now: string): Promise<CommittedBatch> {
    const thread = this.#threadFor(batch.length);
    if (thread === undefined) return this.#here.commit(batch, now);
    return await this.#ask(() => thread.commit(batch, now, this.bounds));
  }

  async cut(upTo: Revision, limits: CutLimits): Promise<Bounds & { readonly done: boolean }> {
    const thread = this.#threadFor(0);
    if (thread === undefined) return this.#here.cut(upTo, limits);
    return await this.#ask(() => thread.cut(upTo, limits, this.bounds));
  }

  async leap(): Promise<Bounds> {
    const thread = this.#threadFor(0);
    if (thread === undefined) return this.#here.leap();
    return await this.#ask(() => thread.leap(this.bounds));
  }

  /** Resolves when the transaction under way, if there is one, has ended and `bounds` says so. */
  async settled(): Promise<void> {
    await this.#thread?.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.[Symbol.asyncDispose]();
    this.#here.close();
  }

  /** The thread, if it is to run a transaction with so many writes. */
  #threadFor(writes: number): WriterThread | undefined {
    const thread = this.#thread;
    if (thread === undefined || thread.isBusy) return thread;
    if (writes < threadWritesMin) return undefined;
    thread.start(); // Nobody waits for that.
    return thread.isReady ? thread : undefined;
  }

  async #ask<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#here.doubt(); // It may have been committed all the same.
      throw error;
    }
  }
}
