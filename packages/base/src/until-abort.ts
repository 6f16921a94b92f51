import { onAbort } from "./on-abort.ts";

/**
 * What `work` gives, unless `signal` aborts first: then its reason. The work goes on for whoever else waits for it, and a
 * failure of what nobody waits for any more is nobody's.
 */
export async function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    throw signal.reason;
  }
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  using _listener = onAbort(signal, () => reject(signal.reason as Error));
  return await Promise.race([work, aborted]);
}
