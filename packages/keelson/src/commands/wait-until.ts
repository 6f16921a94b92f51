// What every `--wait` does: looks until it is so, ever less often.

import { Backoff, systemRandom } from "@keelson/base";
import type { Session } from "./session.ts";

/** `look` says whether it is so. Once the time is up it is told so, for the last time: it is to throw then if it is not. */
export async function waitUntil(
  { clock }: Pick<Session, "clock">,
  timeoutMs: number,
  look: (isLate: boolean) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const startMs = clock.monotonic();
  // Mostly it is so within milliseconds; whoever waits longer asks less.
  const backoff = new Backoff({ initialMs: 50, maxMs: 1_000, random: systemRandom });
  while (!(await look(clock.monotonic() - startMs >= timeoutMs))) {
    await clock.sleep(backoff.next(), signal);
  }
}

/** What is said of a state in which something has stayed for the whole time. */
export function stillAfter(timeoutMs: number): string {
  return ` still, after ${timeoutMs / 1_000} s`;
}
