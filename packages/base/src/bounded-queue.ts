// A queue that says what happens when it is full: `push` waits, `offer` refuses.

import { LinkedList } from "./linked-list.ts";
import { onAbort } from "./on-abort.ts";

/** The queue is closed, and what was in it has been taken. */
export class QueueClosed extends Error {
  readonly code = "QUEUE_CLOSED";

  constructor() {
    super("the queue is closed");
    this.name = "QueueClosed";
  }
}

/**
 * Hands items from producers to consumers, in order, holding at most `capacity` of them.
 *
 * Each item is taken exactly once. Waiters are served in the order in which they came, and nobody overtakes
 * them. All operations take constant time. An aborted `push` has not added its item, an aborted `take` has
 * not taken one.
 */
export class BoundedQueue<T> implements AsyncIterable<T> {
  /** The most items it holds. */
  readonly capacity: number;
  readonly #items = new LinkedList<T>();
  // At most one of the two has anybody in it: takers wait while it is empty, pushers while it is full.
  readonly #takers = new LinkedList<Waiter<T>>();
  readonly #pushers = new LinkedList<Waiter<void> & { readonly item: T }>();
  #closed = false;

  constructor({ capacity }: { readonly capacity: number }) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new RangeError(`a queue must hold at least one item, not ${capacity}`);
    }
    this.capacity = capacity;
  }

  /** How many items it holds, without those whose `push` still waits. */
  get size(): number {
    return this.#items.size;
  }

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Appends an item, waiting for room. Rejects with `signal.reason`, or with `QueueClosed`. */
  push(item: T, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#closed) return Promise.reject(new QueueClosed());
    if (this.offer(item)) return Promise.resolve();
    return wait<void, { item: T }>(this.#pushers, { item }, signal);
  }

  /** Appends an item if there is room. False when the queue is full or closed. */
  offer(item: T): boolean {
    if (this.#closed) return false;
    const taker = this.#takers.shift();
    if (taker !== undefined) taker.value.resolve(item);
    else if (this.#items.size < this.capacity) this.#items.push(item);
    else return false;
    return true;
  }

  /** Takes the oldest item, waiting for one. Rejects with `signal.reason`, or with `QueueClosed` once nothing is left. */
  take(signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const oldest = this.#items.shift();
    if (oldest !== undefined) {
      this.#admitOne();
      return Promise.resolve(oldest.value);
    }
    if (this.#closed) return Promise.reject(new QueueClosed());
    // Not from an async function: its extra turns would let a later take, that need not wait, settle first.
    return wait<T>(this.#takers, {}, signal);
  }

  /** Takes nothing more in: waiting pushes and takes reject with `QueueClosed`; what is held can still be taken. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const waiters of [this.#pushers, this.#takers]) {
      let waiter = waiters.shift();
      while (waiter !== undefined) {
        waiter.value.reject(new QueueClosed());
        waiter = waiters.shift();
      }
    }
  }

  /** Takes items until the queue is closed and empty, or `signal` aborts: then it just ends. */
  async *stream(signal: AbortSignal): AsyncGenerator<T, void, undefined> {
    for (;;) {
      let item: T;
      try {
        item = await this.take(signal);
      } catch (error) {
        if (signal.aborted || error instanceof QueueClosed) return;
        throw error;
      }
      yield item;
    }
  }

  /** Takes items until the queue is closed and empty. Each item goes to one of the iterators. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    return this.stream(new AbortController().signal);
  }

  /** There is room again: the oldest waiting push may have it. */
  #admitOne(): void {
    const pusher = this.#pushers.shift();
    if (pusher === undefined) return;
    this.#items.push(pusher.value.item);
    pusher.value.resolve();
  }
}

/** Somebody who waits in a list. Whoever settles it has taken it out before. */
interface Waiter<R> {
  readonly resolve: (result: R) => void;
  readonly reject: (reason: Error) => void;
}

/** Waits in `waiters` until somebody takes us out and settles us, or until `signal` aborts. */
function wait<R, E extends object = object>(
  waiters: LinkedList<Waiter<R> & E>,
  extra: E,
  signal: AbortSignal,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const place = waiters.push({
      ...extra,
      resolve: (result) => {
        listener[Symbol.dispose]();
        resolve(result);
      },
      reject: (reason) => {
        listener[Symbol.dispose]();
        reject(reason);
      },
    });
    const listener = onAbort(signal, () => {
      waiters.remove(place);
      reject(signal.reason as Error);
    });
  });
}
