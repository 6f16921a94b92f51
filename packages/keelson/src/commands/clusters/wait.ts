// Waiting until clusters and nodepools are where they should be.

import { Backoff, systemRandom } from "@keelson/base";
import { CommandError } from "../command-error.ts";
import type { Session } from "../session.ts";
import { findById, type Declared, type Kind } from "./shapes.ts";

/** What is waited for. */
export type Goal = "Ready" | "gone";

/** Says of each when it is there. Throws with the reason as soon as one cannot get there by itself, or when the time is up. */
export async function waitFor(
  session: Session,
  found: readonly Declared[],
  {
    kind,
    goal,
    timeoutMs,
  }: { readonly kind: Kind; readonly goal: Goal; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, tell } = session;
  const startMs = clock.monotonic();
  const backoff = new Backoff({ initialMs: 50, maxMs: 1_000, random: systemRandom });
  for (const { id, name } of found) {
    for (;;) {
      const seen = await findById(client, kind, id, signal);
      if (goal === "gone" ? seen === undefined : seen?.status.phase === "Ready") break;
      if (seen === undefined) throw new CommandError(`${name} is gone`);
      const isLate = clock.monotonic() - startMs >= timeoutMs;
      if (isLate || (goal === "Ready" && isLost(seen))) {
        throw new CommandError(
          failure(seen, { kind, goal, late: isLate ? ` still, after ${timeoutMs / 1000} s` : "" }),
        );
      }
      await clock.sleep(backoff.next(), signal);
    }
    tell(name, goal);
  }
}

/** Whoever waits for it to be Ready waits in vain. */
function isLost({ status: { phase } }: Declared): boolean {
  return phase === "Failed" || phase === "Deleting";
}

function failure(
  { name, status }: Declared,
  { kind, goal, late }: { readonly kind: Kind; readonly goal: Goal; readonly late: string },
): string {
  const { phase, reason, message } = status;
  const next =
    goal === "gone"
      ? `--force waits for no controller`
      : `"keelson ${kind.noun} status ${name}" shows who it waits for`;
  return `${name}: ${phase}${late}, ${reason}, ${message}: ${next}`;
}
