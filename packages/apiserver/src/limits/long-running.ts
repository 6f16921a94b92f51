// Watches count apart: they last for minutes, and cost little while nothing happens.

import { tooManyRequests, type Permit } from "./fair-queue.ts";

export interface LongRunningLimits {
  readonly runningMax: number;
  readonly runningPerUserMax: number;
}

const longRunningLimits: LongRunningLimits = {
  runningMax: 20_000,
  runningPerUserMax: 10_000,
};

/** Counts what runs for long. Nobody waits: beyond the limits it is 429 with `Retry-After: 1`. */
export class LongRunning {
  readonly #limits: LongRunningLimits;
  readonly #users = new Map<string, number>();
  #running = 0;

  constructor(limits: LongRunningLimits = longRunningLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  enter(user: string): Permit {
    const own = this.#users.get(user) ?? 0;
    if (this.#running >= this.#limits.runningMax || own >= this.#limits.runningPerUserMax) {
      throw tooManyRequests();
    }
    this.#users.set(user, own + 1);
    this.#running += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#running -= 1;
        const left = (this.#users.get(user) ?? 1) - 1;
        if (left === 0) this.#users.delete(user);
        else this.#users.set(user, left);
      },
    };
  }
}
