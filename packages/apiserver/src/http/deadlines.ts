// The end of requests that take too long. One timer for all of them: a timer for each would outlive it, and
// there are thousands a second.

import type { Clock } from "@keelson/base";

const tickMs = 250;

/** Aborts what has not ended in time, at most a quarter of a second late. */
export class Deadlines implements Disposable {
  readonly #clock: Clock;
  /** By the tick in which they are due. */
  readonly #due = new Map<number, Set<AbortController>>();
  #timer: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborts `controller` after `ms`, unless the answer is disposed of before. */
  add(controller: AbortController, ms: number): Disposable {
    const tick = Math.ceil((this.#clock.monotonic() + ms) / tickMs);
    let set = this.#due.get(tick);
    if (set === undefined) this.#due.set(tick, (set = new Set()));
    set.add(controller);
    this.#timer ??= this.#clock.after(tickMs, () => this.#sweep());
    const own = set;
    return {
      [Symbol.dispose]: () => {
        own.delete(controller);
        if (own.size === 0 && this.#due.get(tick) === own) this.#due.delete(tick);
      },
    };
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#due.clear();
  }

  #sweep(): void {
    const now = Math.floor(this.#clock.monotonic() / tickMs);
    for (const [tick, controllers] of this.#due) {
      if (tick > now) continue;
      this.#due.delete(tick);
      for (const controller of controllers) {
        controller.abort(new DOMException("the request took too long", "TimeoutError"));
      }
    }
    this.#timer = this.#due.size === 0 ? undefined : this.#clock.after(tickMs, () => this.#sweep());
  }
}
