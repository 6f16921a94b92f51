// Group commit: writes that arrive while a commit runs share the next transaction.

import { setImmediate } from "node:timers";
import type { Backend, Outcome, Write } from "./backend.ts";
import { Unavailable } from "./errors.ts";
import { keyText } from "./key.ts";
import type { Revision } from "./revision.ts";

export interface CommitLimits {
  /** Writes in one transaction. */
  readonly batchWritesMax: number;
  /** Characters of bodies in one transaction; a single larger write still goes, alone. */
  readonly batchTextMax: number;
  /** Writes waiting for their transaction; beyond it a write is refused with Unavailable. */
  readonly queuedWritesMax: number;
}

/** A batch as it was committed. */
export interface Committed {
  readonly writes: readonly Write[];
  readonly outcomes: readonly Outcome[];
  readonly head: Revision;
}

interface Options {
  readonly backend: Pick<Backend, "commit">;
  readonly limits: CommitLimits;
  /** Sees each batch after it is durable and before any of its writers hears of it. */
  readonly onCommitted: (batch: Committed) => void;
  /** Sees a batch of which nobody knows whether it was committed. */
  readonly onUncertain: () => void;
}

interface Pending {
  readonly write: Write;
  readonly signal: AbortSignal;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers writes into batches; one batch is under way at a time, in the order the writes came. */
export class CommitQueue {
  readonly #options: Options;
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get queued(): number {
    return this.#pending.length;
  }

  /**
   * Commits a write, together with whatever else is waiting. The signal counts
   * until the batch begins: a write that has begun runs to its end.
   */
  submit(write: Write, signal: AbortSignal): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new Unavailable("the store is closed"));
        return;
      }
      if (this.#pending.length >= this.#options.limits.queuedWritesMax) {
        reject(new Unavailable(`${this.#pending.length} writes are waiting already`));
        return;
      }
      this.#pending.push({ write, signal, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Refuses new writes, finishes those that wait. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      // After the turn's I/O: requests that arrived together commit together, and a synchronous
      // database lets everybody else in between its batches.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#takeBatch();
      if (batch.length > 0) await this.#commit(batch);
    }
    this.#running = undefined;
  }

  async #commit(batch: readonly Pending[]): Promise<void> {
    const writes = batch.map(({ write }) => write);
    try {
      const { head, outcomes } = await this.#options.backend.commit(writes);
      this.#options.onCommitted({ writes, outcomes, head });
      batch.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error("the backend lost an outcome"));
        else resolve(outcome);
      });
    } catch (error) {
      this.#options.onUncertain();
      for (const { reject } of batch) reject(error);
    }
  }

  /** The longest run of waiting writes that fits, each object at most once: a second write waits. */
  #takeBatch(): Pending[] {
    const { batchWritesMax, batchTextMax } = this.#options.limits;
    const batch: Pending[] = [];
    const later: Pending[] = [];
    const keys = new Set<string>();
    let text = 0;
    for (const [index, pending] of this.#pending.entries()) {
      if (pending.signal.aborted) {
        pending.reject(pending.signal.reason);
        continue;
      }
      const size = textSize(pending.write);
      if (batch.length >= batchWritesMax || (batch.length > 0 && text + size > batchTextMax)) {
        later.push(...this.#pending.slice(index));
        break;
      }
      const key = keyText(pending.write.key);
      if (keys.has(key)) {
        later.push(pending);
        continue;
      }
      keys.add(key);
      text += size;
      batch.push(pending);
    }
    this.#pending = later;
    return batch;
  }
}

function textSize(write: Write): number {
  return (write.type === "delete" ? write.final?.text.length : write.body.text.length) ?? 0;
}
