// The only home of timers and of the time: whoever waits is given a `Clock`, so tests decide when time passes.

import { onAbort } from "./on-abort.ts";

/** Time and waiting. Durations are milliseconds; a negative one counts as zero, `NaN` throws a `RangeError`. */
export interface Clock {
  /** The wall clock, in milliseconds since 1970. It may jump, also backwards: for stamps, never for durations. */
  now(): number;

  /** Milliseconds from some fixed start. Never goes back: for durations and deadlines within the process. */
  monotonic(): number;

  /**
   * Resolves no earlier than `ms` from now by `monotonic()`, and never in the same turn.
   * Rejects with `signal.reason` as soon as `signal` aborts. Keeps the process alive.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>;

  /**
   * A signal that aborts after `ms` with a `TimeoutError` (a `DOMException` of that name).
   * It does not keep the process alive, and costs nothing once nobody can observe it; but one that was
   * combined by `AbortSignal.any` is kept until its time is up.
   */
  timeout(ms: number): AbortSignal;

  /**
   * Calls `callback` once, no earlier than `ms` from now; disposing it before then cancels the call, and
   * disposing it later does nothing. Keeps the process alive.
   */
  after(ms: number, callback: () => void): Disposable;
}

/** The clock of the machine. Waits may be of any length, `Infinity` included. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
  timeout: (ms) => {
    const waitMs = checkedWait(ms);
    // The platform lets go of its own timeout signals when nobody can observe them any more.
    return waitMs <= timerMsMax ? AbortSignal.timeout(Math.ceil(waitMs)) : longTimeout(waitMs);
  },
  after: (ms, callback) => {
    const waitMs = checkedWait(ms);
    const dueMs = performance.now() + waitMs;
    let timer: ReturnType<typeof setTimeout>;
    const arm = (leftMs: number): void => {
      timer = setTimeout(step, Math.min(Math.ceil(leftMs), timerMsMax));
    };
    const step = (): void => {
      // Also when it is not a long wait: a timer may fire a fraction of a millisecond early.
      const leftMs = dueMs - performance.now();
      if (leftMs > 0) arm(leftMs);
      else callback();
    };
    arm(waitMs);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** `Clock.sleep` in terms of `Clock.after`, for implementations of `Clock`. */
export function sleepOn(
  clock: Pick<Clock, "after">,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = clock.after(ms, () => {
      listener[Symbol.dispose]();
      resolve();
    });
    const listener = onAbort(signal, () => {
      timer[Symbol.dispose]();
      reject(signal.reason as Error);
    });
  });
}

/** The reason with which a timeout signal aborts. */
export function timeoutError(): DOMException {
  return new DOMException("the time is up", "TimeoutError");
}

/** The wait that `ms` asks for: never negative. Throws a `RangeError` for `NaN`. */
export function checkedWait(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError("a wait must be a number of milliseconds, not NaN");
  return Math.max(ms, 0);
}

/** The longest wait of one platform timer: a longer one would fire at once. */
const timerMsMax = 2 ** 31 - 1;

/**
 * A timeout beyond one platform timer, 24 days. It is held weakly, and whoever wants to see it abort must
 * hold it: a client that asks for a wait of years must not own our memory for years.
 */
function longTimeout(ms: number): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const weak = new WeakRef(controller);
  const dueMs = performance.now() + ms;
  let timer: ReturnType<typeof setTimeout>;
  const arm = (leftMs: number): void => {
    timer = setTimeout(step, Math.min(Math.ceil(leftMs), timerMsMax));
    unref(timer);
  };
  const step = (): void => {
    const leftMs = dueMs - performance.now();
    if (leftMs > 0) arm(leftMs);
    else weak.deref()?.abort(timeoutError());
  };
  arm(ms);
  controllers.set(signal, controller);
  abandoned.register(signal, () => clearTimeout(timer));
  return signal;
}

/** A signal does not hold its controller, but a timer must find it as long as somebody holds the signal. */
const controllers = new WeakMap<AbortSignal, AbortController>();

const abandoned = new FinalizationRegistry((cancel: () => void) => cancel());

/** Browsers have numbers for timers, and nothing to unref. */
function unref(timer: unknown): void {
  const { unref } = Object(timer) as { unref?: () => void };
  unref?.call(timer);
}
