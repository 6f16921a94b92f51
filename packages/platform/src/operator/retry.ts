// When something that failed is tried again.

import type { Clock, Random } from "@keelson/base";

import type { FailureReason } from "../steps/failure.ts";

/** No wait is longer, unless a service asks for it. */
const waitMsMax = 30_000;
const firstWaitMs = 1_000;

/** What only somebody else can mend: there is no hurry. */
const slow: ReadonlySet<FailureReason> = new Set([
  "Conflict",
  "Refused",
  "NotConfigured",
  "MigrationFailed",
]);

export interface Failed {
  readonly reason: FailureReason;
  /** How often it has failed in a row, this time included. */
  readonly attempts: number;
  /** When the service itself asked for patience. */
  readonly retryAfterMs?: number | undefined;
}

/** The last attempt at something that does not succeed. */
export interface Attempt {
  readonly reason: FailureReason;
  /** How often it has failed in a row. */
  readonly attempts: number;
  /** When it is due again, by the monotonic clock. */
  readonly untilMs: number;
}

/**
 * What has failed, perhaps not for the first time. Only what was due counts as another attempt: other things bring an app
 * up, too, and a burst of them within a second is no long trouble.
 */
export function failedAgain(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  last: Attempt | undefined,
  { reason, retryAfterMs }: Pick<Failed, "reason" | "retryAfterMs">,
): Attempt {
  const nowMs = clock.monotonic();
  const isEarly = last !== undefined && nowMs < last.untilMs;
  if (isEarly && last.reason === reason && retryAfterMs === undefined) return last;
  const attempts = (last?.attempts ?? 0) + (isEarly ? 0 : 1);
  return {
    reason,
    attempts,
    untilMs: nowMs + retryWaitMs({ reason, attempts, retryAfterMs }, random),
  };
}

/** 1, 2, 4, 8, 16 and then 30 seconds, each by 50 to 150 %; a spec that cannot be waits for a change. */
export function retryWaitMs(
  { reason, attempts, retryAfterMs = 0 }: Failed,
  random: Random,
): number {
  if (reason === "InvalidSpec") return Infinity;
  const baseMs = slow.has(reason) ? waitMsMax : firstWaitMs * 2 ** (attempts - 1);
  const waitMs = Math.min(waitMsMax, Math.min(waitMsMax, baseMs) * (0.5 + random.float()));
  return Math.max(retryAfterMs, Math.round(waitMs));
}
