// Keys that are due later, one time each, behind one timer.

import type { Clock } from "@keelson/base";

interface Due {
  readonly key: string;
  readonly atMs: number;
}

/** Calls `onDue` for each key when its time has come, in the order of the times. */
export class DueTimes implements Disposable {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #times = new Map<string, Due>();
  /** A heap. What is no longer in `#times` is left in it until it comes up, or until there is too much of it. */
  #heap: Due[] = [];
  #timer: { readonly handle: Disposable; readonly atMs: number } | undefined;

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#times.size;
  }

  /** How much is kept: no more than twice the keys, and a few. */
  get kept(): number {
    return this.#heap.length;
  }

  has(key: string): boolean {
    return this.#times.has(key);
  }

  /** Due after `ms`, unless it is due sooner already. */
  sooner(key: string, ms: number): void {
    const atMs = this.#clock.monotonic() + Math.max(0, ms);
    const known = this.#times.get(key);
    if (known !== undefined && known.atMs <= atMs) return;
    const due = { key, atMs };
    this.#times.set(key, due);
    this.#push(due);
    if (this.#heap.length > 2 * this.#times.size + spareMax) this.#sweep();
    this.#arm();
  }

  cancel(key: string): void {
    this.#times.delete(key);
  }

  [Symbol.dispose](): void {
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = undefined;
    this.#times.clear();
    this.#heap = [];
  }

  #arm(): void {
    const first = this.#first();
    if (first === undefined || (this.#timer !== undefined && this.#timer.atMs <= first.atMs))
      return;
    this.#timer?.handle[Symbol.dispose]();
    const handle = this.#clock.after(first.atMs - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      this.#fire();
      this.#arm();
    });
    this.#timer = { handle, atMs: first.atMs };
  }

  #fire(): void {
    const nowMs = this.#clock.monotonic();
    for (let due = this.#first(); due !== undefined && due.atMs <= nowMs; due = this.#first()) {
      this.#pop();
      this.#times.delete(due.key);
      this.#onDue(due.key);
    }
  }

  /** The earliest that still counts. */
  #first(): Due | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || this.#times.get(first.key) === first) return first;
      this.#pop();
    }
  }

  /** A key that is cancelled and due anew all the time, an hour ahead, must not be kept for each of these hours. */
  #sweep(): void {
    this.#heap = [];
    for (const due of this.#times.values()) this.#push(due);
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let index = heap.push(due) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (timeAt(heap, parent) <= due.atMs) break;
      swap(heap, index, parent);
      index = parent;
    }
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let index = 0; ;) {
      const left = 2 * index + 1;
      const smaller = timeAt(heap, left + 1) < timeAt(heap, left) ? left + 1 : left;
      if (timeAt(heap, smaller) >= last.atMs) return;
      swap(heap, index, smaller);
      index = smaller;
    }
  }
}

/** So much that no longer counts is never worth a sweep. */
const spareMax = 64;

function timeAt(heap: readonly Due[], index: number): number {
  return heap[index]?.atMs ?? Infinity;
}

function swap(heap: Due[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]];
  if (first === undefined || second === undefined) return;
  heap[a] = second;
  heap[b] = first;
}
