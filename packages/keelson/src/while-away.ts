// A database that is not there yet, as when both start at once: a start waits for it, and not for ever.

import { Backoff, type Clock, type Log, type Random } from "@keelson/base";

/** How long a start waits for a database of somebody else. */
export const startPatienceMs = 30_000;

export interface WhileAwayOptions {
  /** Whether a failure says that the database is away, and another time may go well. */
  readonly isAway: (error: unknown) => error is Error;
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Does `work`, again and again while the database is away. Throws its last failure when patience ends, and any other at once. */
export async function whileAway<T>(
  { isAway, patienceMs, clock, random, log }: WhileAwayOptions,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const deadlineMs = clock.monotonic() + patienceMs;
  const backoff = new Backoff({ initialMs: 100, maxMs: 2_000, random });
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const waitMs = backoff.next();
      const isHopeless = clock.monotonic() + waitMs > deadlineMs;
      if (!isAway(error) || isHopeless) throw error;
      log.warn({ reason: error.message }, "waiting for the database");
      await clock.sleep(waitMs, signal);
    }
  }
}
