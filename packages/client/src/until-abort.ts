import { onAbort } from "@keelson/base";

/** Waits for work that others wait for too: an abort ends the waiting, not the work. */
export async function untilAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  using _listener = onAbort(signal, () => reject(signal.reason as Error));
  return await Promise.race([promise, aborted]);
}
