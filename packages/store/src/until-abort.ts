import { onAbort } from "@keelson/base";

/** What `promise` gives, unless the signal aborts first: then its reason. The work goes on for whoever else waits. */
export async function untilAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  using _listener = onAbort(signal, () => {
    reject(signal.reason);
  });
  return await Promise.race([promise, aborted]);
}
