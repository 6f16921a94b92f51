import { onAbort, type Clock } from "@keelson/base";

import { DeadlineExceeded } from "./errors.ts";

/**
 * Runs something that may take `timeoutMs`: then its signal aborts with a `DeadlineExceeded`.
 *
 * Not `AbortSignal.any` with `clock.timeout`: that would be kept for the whole time, for each of thousands of
 * requests that are answered within milliseconds.
 */
export async function withDeadline<T>(
  { clock, timeoutMs, what }: { clock: Clock; timeoutMs: number; what: string },
  run: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  using _timer = clock.after(timeoutMs, () =>
    controller.abort(new DeadlineExceeded(what, timeoutMs)),
  );
  using _listener = onAbort(signal, () => controller.abort(signal.reason));
  return await run(controller.signal);
}
