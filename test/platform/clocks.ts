// Clocks for operators at work: in a hurry, or without patience.

import { systemClock, type Clock } from "@keelson/base";

/** The machine's clock, on which no wait of so long or longer ever ends: what happens was brought about by a change. */
export function withoutWaitsFrom(longMs: number): Clock {
  return {
    ...systemClock,
    after: (ms, callback) =>
      ms >= longMs ? { [Symbol.dispose]: () => undefined } : systemClock.after(ms, callback),
  };
}

/** The machine's clock, which a test puts forward: what is due by then happens at once. The time of day stays as it is. */
export class LeapingClock implements Clock {
  readonly #waiting = new Set<Waiting>();
  #leaptMs = 0;

  now(): number {
    return systemClock.now();
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#leaptMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    using _timer = this.after(ms, resolve);
    await promise.finally(() => signal.removeEventListener("abort", abort));
  }

  timeout(ms: number): AbortSignal {
    const ended = new AbortController();
    this.after(ms, () => ended.abort(new DOMException("timed out", "TimeoutError")));
    return ended.signal;
  }

  after(ms: number, callback: () => void): Disposable {
    const fire = (): void => {
      if (!this.#waiting.delete(waiting)) return;
      timer[Symbol.dispose]();
      callback();
    };
    const timer = systemClock.after(ms, fire);
    const waiting: Waiting = { dueMs: this.monotonic() + ms, fire };
    this.#waiting.add(waiting);
    return {
      [Symbol.dispose]: () => {
        this.#waiting.delete(waiting);
        timer[Symbol.dispose]();
      },
    };
  }

  leap(ms: number): void {
    this.#leaptMs += ms;
    const due = [...this.#waiting].filter(({ dueMs }) => dueMs <= this.monotonic());
    for (const { fire } of due.sort((a, b) => a.dueMs - b.dueMs)) fire();
  }
}

interface Waiting {
  readonly dueMs: number;
  readonly fire: () => void;
}
