// The end of requests that take too long. One timer for all of them: a timer for each would outlive it, and
// there are thousands a second.

import { LinkedList, type Clock, type Place } from "@keelson/base";

const tickMs = 250;

/** What can be ended. */
export interface Endable {
  abort(reason: unknown): void;
}

/** Aborts what has not ended in time, at most a quarter of a second late. */
export class Deadlines implements Disposable {
  readonly #clock: Clock;
  /** Those under way: few, however many there were. */
  readonly #pending = new LinkedList<Deadline>();
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts `target` after `ms`, unless the answer is disposed of before. */
  add(target: Endable, ms: number): Disposable {
    const deadline = new Deadline(this.#pending, target, this.#clock.monotonic() + ms);
    this.#timer ??= this.#clock.after(tickMs, () => this.#sweep());
    return deadline;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    for (const deadline of this.#pending) deadline[Symbol.dispose]();
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const deadline of this.#pending) deadline.endIfLate(now);
    this.#timer =
      this.#pending.size === 0 ? undefined : this.#clock.after(tickMs, () => this.#sweep());
  }
}

/** What is to end, and when by the monotonic clock. */
class Deadline implements Disposable {
  readonly #pending: LinkedList<Deadline>;
  readonly #target: Endable;
  readonly #atMs: number;
  #place: Place<Deadline> | undefined;

  constructor(pending: LinkedList<Deadline>, target: Endable, atMs: number) {
    this.#pending = pending;
    this.#target = target;
    this.#atMs = atMs;
    this.#place = pending.push(this);
  }

  endIfLate(now: number): void {
    if (this.#atMs > now || this.#place === undefined) return;
    this[Symbol.dispose]();
    this.#target.abort(new DOMException("the request took too long", "TimeoutError"));
  }

  [Symbol.dispose](): void {
    if (this.#place === undefined) return;
    this.#pending.remove(this.#place);
    this.#place = undefined;
  }
}
