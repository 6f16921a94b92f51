import { checkedWait, sleepOn, timeoutError, type Clock } from "../clock.ts";

/**
 * A clock that stands still until a test advances it.
 *
 * What is due fires in the order of its time, and of its making where the times are equal; work that this
 * wakes may wait again and is served within the same `advance`.
 */
export class ManualClock implements Clock {
  readonly #timers: Timer[] = [];
  #monotonicMs = 0;
  #wallMs: number;
  #made = 0;

  /** The wall clock starts at `now`, by default at the beginning of 2026; the monotonic one at zero. */
  constructor({ now = Date.UTC(2026, 0, 1) }: { readonly now?: number } = {}) {
    this.#wallMs = now;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  timeout(ms: number): AbortSignal {
    const controller = new AbortController();
    this.after(ms, () => controller.abort(timeoutError()));
    return controller.signal;
  }

  after(ms: number, callback: () => void): Disposable {
    const dueMs = this.#monotonicMs + checkedWait(ms);
    const timer: Timer = { dueMs, order: this.#made++, callback };
    this.#timers.splice(this.#indexOf(timer), 0, timer);
    return {
      [Symbol.dispose]: () => {
        const index = this.#indexOf(timer);
        if (this.#timers[index] === timer) this.#timers.splice(index, 1);
      },
    };
  }

  /** How many sleeps, timeouts and callbacks have neither fired nor been cancelled. */
  get pending(): number {
    return this.#timers.length;
  }

  /** How long until the next of them is due, or `undefined` when there is none. */
  get nextInMs(): number | undefined {
    const first = this.#timers[0];
    return first === undefined ? undefined : first.dueMs - this.#monotonicMs;
  }

  /**
   * Lets `ms` pass. Before the first timer, between two and after the last, microtasks and a few turns of
   * `setImmediate` run, so that what was woken can act and wait again. Rejects with what a callback throws.
   */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#monotonicMs + checkedWait(ms);
    await this.settle();
    for (;;) {
      const timer = this.#timers[0];
      if (timer === undefined || timer.dueMs > targetMs) break;
      this.#timers.shift();
      this.#moveTo(timer.dueMs);
      timer.callback();
      await this.settle();
    }
    this.#moveTo(targetMs);
    await this.settle();
  }

  /** Lets what is ready run, microtasks and a few turns of `setImmediate`, while the time stands still. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** Moves the wall clock alone, also backwards, as a correction of the machine's time would. Nothing fires. */
  shiftWall(ms: number): void {
    this.#wallMs += ms;
  }

  #moveTo(monotonicMs: number): void {
    const passedMs = Math.max(0, monotonicMs - this.#monotonicMs);
    this.#monotonicMs += passedMs;
    this.#wallMs += passedMs;
  }

  /** Where a timer is, or belongs, in the order of firing. */
  #indexOf({ dueMs, order }: Timer): number {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#timers[middle] as Timer;
      if (other.dueMs < dueMs || (other.dueMs === dueMs && other.order < order)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}
