// Our share of a server's patience: a token bucket in front of it, in which what matters more goes first.

import { onAbort, type Clock } from "@keelson/base";

import { ClientBusy } from "./errors.ts";

/**
 * Who waits for whom: `system` for nobody (leases: late, they are lost), `high` before `normal` before `low`.
 */
export type Priority = "system" | "high" | "normal" | "low";

export interface RateLimit {
  /** Requests a second, in the long run. */
  readonly perSecond: number;
  /** How many may go at once after a pause. */
  readonly burst: number;
  /** How many may wait for their turn; more are refused. */
  readonly waitersMax: number;
}

export const usualRateLimit: RateLimit = { perSecond: 200, burst: 400, waitersMax: 10_000 };

const waitingPriorities = ["high", "normal", "low"] as const;

/** Of this many turns in a row one goes to the lowest priority that waits: nobody starves. */
const turnsInARow = 16;

/** Lets requests through at a bounded rate: first by priority, then by arrival. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #limit: RateLimit;
  readonly #waiting: Record<(typeof waitingPriorities)[number], Set<() => void>> = {
    high: new Set(),
    normal: new Set(),
    low: new Set(),
  };
  #tokens: number;
  #filledAtMs: number;
  #turns = 0;
  #timer: Disposable | undefined;

  constructor({ clock, limit = usualRateLimit }: { clock: Clock; limit?: RateLimit }) {
    const { perSecond, burst } = limit;
    if (!(perSecond > 0)) throw new RangeError(`perSecond must be positive, not ${perSecond}`);
    if (!(burst >= 1)) throw new RangeError(`burst must be at least 1, not ${burst}`);
    this.#clock = clock;
    this.#limit = limit;
    this.#tokens = burst;
    this.#filledAtMs = clock.monotonic();
  }

  /** How many wait for their turn. */
  get waiting(): number {
    return waitingPriorities.reduce((sum, priority) => sum + this.#waiting[priority].size, 0);
  }

  /** Resolves when it is this request's turn. Rejects with `signal.reason`, or at once with `ClientBusy`. */
  async acquire(priority: Priority, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#fill();
    // It counts, so that the others make up for it, but it never waits.
    if (priority === "system" || (this.#tokens >= 1 && this.waiting === 0)) {
      this.#tokens -= 1;
      return;
    }
    if (this.waiting >= this.#limit.waitersMax) throw new ClientBusy(this.waiting);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiters = this.#waiting[priority];
    waiters.add(resolve);
    using _listener = onAbort(signal, () => {
      waiters.delete(resolve);
      reject(signal.reason as Error);
    });
    this.#schedule();
    await promise;
  }

  #fill(): void {
    const nowMs = this.#clock.monotonic();
    const { perSecond, burst } = this.#limit;
    const gained = ((nowMs - this.#filledAtMs) / 1000) * perSecond;
    this.#tokens = Math.min(burst, this.#tokens + gained);
    this.#filledAtMs = nowMs;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.waiting === 0) return;
    const waitMs = (Math.max(0, 1 - this.#tokens) / this.#limit.perSecond) * 1000;
    this.#timer = this.#clock.after(Math.ceil(waitMs), () => {
      this.#timer = undefined;
      this.#fill();
      while (this.#tokens >= 1 && this.#admitNext()) this.#tokens -= 1;
      this.#schedule();
    });
  }

  #admitNext(): boolean {
    const some = waitingPriorities.filter((priority) => this.#waiting[priority].size > 0);
    this.#turns = (this.#turns + 1) % turnsInARow;
    const priority = this.#turns === 0 ? some.at(-1) : some[0];
    if (priority === undefined) return false;
    const waiters = this.#waiting[priority];
    for (const resolve of waiters) {
      waiters.delete(resolve);
      resolve();
      return true;
    }
    return false;
  }
}
