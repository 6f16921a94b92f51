import { Backoff, isCancellation, type Clock, type Log, type Random } from "@keelson/base";
import { isTransient } from "./errors.ts";
import type { Subscription } from "./wakeups.ts";

export interface WakeLoopOptions {
  /** What the loop does, for the log. */
  readonly name: string;
  readonly subscription: Subscription;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Runs `step` at every wake-up until `signal`, never twice at once. A transient failure is logged and the step
 * tried again, with backoff up to 10 s, for ever; any other ends the loop with it.
 */
export async function runOnWake(
  { name, subscription, clock, random, log }: WakeLoopOptions,
  step: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff({ initialMs: 100, maxMs: 10_000, random });
  try {
    for (;;) {
      await subscription.wait(signal);
      while (!(await succeeds(step))) await clock.sleep(backoff.next(), signal);
      backoff.reset();
    }
  } catch (error) {
    if (!isCancellation(error, signal)) throw error;
  }

  async function succeeds(step: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    try {
      await step(signal);
      return true;
    } catch (error) {
      if (!isTransient(error)) throw error;
      log.warn({ loop: name, attempts: backoff.attempts + 1, error }, "loop failed, trying again");
      return false;
    }
  }
}
