// Which failures are worth another try, and when. Reads are repeated here; writes only where the server has said
// that it did nothing and when to come back. Everything else is the work queue's to repeat.

import { StatusError } from "@keelson/kube";

import { ConnectionFailed, retryAfterMsOf, UnexpectedAnswer } from "./errors.ts";
import type { Method } from "./transport.ts";

/** Why a request is sent again; a label of the metrics. */
export type RetryReason = "asked" | "unavailable" | "connection";

/** Whether to send again, why, and how long the server wants us to wait; `afterMs` is absent if it did not say. */
export interface Retry {
  readonly reason: RetryReason;
  readonly afterMs?: number;
}

export function retryOf(error: unknown, method: Method): Retry | undefined {
  const isRead = method === "GET";
  if (error instanceof StatusError) {
    const { code } = error.status;
    const afterMs = retryAfterMsOf(error);
    if (code === 429 || code === 503) {
      if (afterMs !== undefined) return { reason: "asked", afterMs };
      // Without a word of when, 429 still says that nothing was done; 503 may come from a proxy that does not know.
      return isRead || code === 429 ? { reason: "unavailable" } : undefined;
    }
    if (!isRead || (code !== 500 && code !== 502 && code !== 504)) return undefined;
    return { reason: "unavailable", ...(afterMs === undefined ? {} : { afterMs }) };
  }
  if (error instanceof ConnectionFailed) {
    return isRead || !error.maybeSent ? { reason: "connection" } : undefined;
  }
  // Cut off in the middle of an answer by a proxy, for one.
  return error instanceof UnexpectedAnswer && isRead ? { reason: "connection" } : undefined;
}
