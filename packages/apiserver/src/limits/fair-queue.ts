// Who may run now, who waits, and who is turned away: so that one loud client does not starve the rest.

import type { Clock } from "@keelson/base";
import { failures } from "@keelson/kube";

export interface FairQueueLimits {
  /** Requests that run at once, of all users and of one. */
  readonly runningMax: number;
  readonly runningPerUserMax: number;
  /** Requests that wait, of all users and of one. */
  readonly waitingMax: number;
  readonly waitingPerUserMax: number;
  /** How long one waits. */
  readonly waitMsMax: number;
}

const fairQueueLimits: FairQueueLimits = {
  runningMax: 600,
  runningPerUserMax: 200,
  waitingMax: 2_000,
  waitingPerUserMax: 200,
  waitMsMax: 5_000,
};

/** The right to run: disposing of it gives it back, once. */
export type Permit = Disposable;

/**
 * Lets requests run up to a number in all and for each user. Beyond that they wait, each user's in order, and users
 * take turns. When too many wait, or one waits too long, it is refused: 429 with `Retry-After: 1`.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #clock: Clock;
  readonly #users = new Map<string, UserState>();
  /** Users with somebody waiting who may run as soon as there is room, in the order of their turns. */
  readonly #ready = new Set<UserState>();
  #running = 0;
  #waiting = 0;

  constructor({
    limits = fairQueueLimits,
    clock,
  }: {
    readonly limits?: FairQueueLimits;
    readonly clock: Clock;
  }) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** At once if there is room. Throws or rejects with a 429 if not soon enough, or with `signal.reason`. */
  enter(user: string, signal: AbortSignal): Permit | Promise<Permit> {
    signal.throwIfAborted();
    const state = this.#stateOf(user);
    // Nobody is passed over: while others could run there is no room.
    if (this.#running < this.#limits.runningMax && this.#mayRun(state)) return this.#start(state);
    if (
      this.#waiting >= this.#limits.waitingMax ||
      state.waiting.size >= this.#limits.waitingPerUserMax
    ) {
      this.#forgetIdle(state);
      throw tooManyRequests();
    }
    return this.#wait(state, signal);
  }

  #wait(state: UserState, signal: AbortSignal): Promise<Permit> {
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const leave = (reason: unknown): void => {
      if (!state.waiting.delete(waiter)) return;
      this.#waiting -= 1;
      if (state.waiting.size === 0) this.#ready.delete(state);
      this.#forgetIdle(state);
      settle();
      reject(reason);
    };
    const onAbort = (): void => leave(signal.reason);
    const timer = this.#clock.after(this.#limits.waitMsMax, () => leave(tooManyRequests()));
    const settle = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", onAbort);
    };
    const waiter: Waiter = {
      run: (permit) => {
        settle();
        resolve(permit);
      },
    };
    signal.addEventListener("abort", onAbort, { once: true });
    state.waiting.add(waiter);
    this.#waiting += 1;
    if (this.#mayRun(state)) this.#ready.add(state);
    return promise;
  }

  #start(state: UserState): Permit {
    state.running += 1;
    this.#running += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        state.running -= 1;
        this.#running -= 1;
        if (state.waiting.size > 0) this.#ready.add(state);
        this.#forgetIdle(state);
        this.#admit();
      },
    };
  }

  /** Gives the room there is to those whose turn it is. */
  #admit(): void {
    while (this.#running < this.#limits.runningMax) {
      const [state] = this.#ready;
      if (state === undefined) return;
      this.#ready.delete(state);
      const [waiter] = state.waiting;
      if (waiter === undefined) continue;
      state.waiting.delete(waiter);
      this.#waiting -= 1;
      const permit = this.#start(state);
      // To the end of the line, if it may stand there: who has all it may have comes back with the next release.
      if (state.waiting.size > 0 && this.#mayRun(state)) this.#ready.add(state);
      waiter.run(permit);
    }
  }

  #mayRun(state: UserState): boolean {
    return state.running < this.#limits.runningPerUserMax;
  }

  #stateOf(user: string): UserState {
    const known = this.#users.get(user);
    if (known !== undefined) return known;
    const state: UserState = { user, running: 0, waiting: new Set() };
    this.#users.set(user, state);
    return state;
  }

  #forgetIdle(state: UserState): void {
    if (state.running === 0 && state.waiting.size === 0) this.#users.delete(state.user);
  }
}

interface UserState {
  readonly user: string;
  running: number;
  /** In the order of their coming. */
  readonly waiting: Set<Waiter>;
}

interface Waiter {
  readonly run: (permit: Permit) => void;
}

export function tooManyRequests() {
  return failures.tooManyRequests("Too many requests, please try again later.", 1);
}
