// The end of requests that take too long. One timer for all of them: a timer for each would outlive it, and
// there are thousands a second.

import type { Clock } from "@keelson/base";

const tickMs = 250;

/** What is to end, and when by the monotonic clock. */
interface Deadline {
  readonly controller: AbortController;
  readonly atMs: number;
}

/** Aborts what has not ended in time, at most a quarter of a second late. */
export class Deadlines implements Disposable {
  readonly #clock: Clock;
  /** Those under way: few, however many there were. */
  readonly #pending = new Set<Deadline>();
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts `controller` after `ms`, unless the answer is disposed of before. */
  add(controller: AbortController, ms: number): Disposable {
    const deadline = { controller, atMs: this.#clock.monotonic() + ms };
    this.#pending.add(deadline);
    this.#timer ??= this.#clock.after(tickMs, () => this.#sweep());
    return { [Symbol.dispose]: () => void this.#pending.delete(deadline) };
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#pending.clear();
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const deadline of this.#pending) {
      if (deadline.atMs > now) continue;
      this.#pending.delete(deadline);
      deadline.controller.abort(new DOMException("the request took too long", "TimeoutError"));
    }
    this.#timer =
      this.#pending.size === 0 ? undefined : this.#clock.after(tickMs, () => this.#sweep());
  }
}
