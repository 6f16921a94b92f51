import { onAbort, type Clock } from "@keelson/base";

import { StepError } from "../steps/step-error.ts";

export interface InTimeOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** What is called, for whoever reads that it was not answered. */
  readonly what: string;
}

/**
 * Calls an SDK of AWS, which is given the signal that ends the call. Its word is not waited for when time is up or nobody
 * wants the answer any more: looking for keys does not heed that signal.
 */
export async function inTime<T>(
  { clock, timeoutMs, what }: InTimeOptions,
  send: (abortSignal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const stop = new AbortController();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const abandon = (reason: Error): void => {
    reject(reason);
    stop.abort(reason);
  };
  using _timer = clock.after(timeoutMs, () => {
    const message = `${what} was not answered within ${timeoutMs / 1000} s`;
    abandon(new StepError("Unreachable", message));
  });
  using _abort = onAbort(signal, () => abandon(signal.reason as Error));
  const answered = send(stop.signal);
  answered.catch(() => {}); // Somebody else may have been faster.
  return await Promise.race([answered, failed]);
}
