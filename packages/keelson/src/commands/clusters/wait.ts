// Waiting until clusters and nodepools are where they should be.

import { CommandError } from "../command-error.ts";
import type { Session } from "../session.ts";
import { stillAfter, waitUntil } from "../wait-until.ts";
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
  const { client, tell } = session;
  const waiting = [...found];
  const look = async (isLate: boolean): Promise<boolean> => {
    for (let one = waiting[0]; one !== undefined; one = waiting[0]) {
      const { id, name } = one;
      const seen = await findById(client, kind, id, signal);
      const isThere = goal === "gone" ? seen === undefined : seen?.status.phase === "Ready";
      if (!isThere) {
        if (seen === undefined) throw new CommandError(`${name} is gone`);
        if (!isLate && !(goal === "Ready" && isLost(seen))) return false;
        const late = isLate ? stillAfter(timeoutMs) : "";
        throw new CommandError(failure(seen, { kind, goal, late }));
      }
      tell(name, goal);
      waiting.shift();
    }
    return true;
  };
  await waitUntil(session, timeoutMs, look, signal);
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
  const shows = `"keelson ${kind.noun} status ${name}" shows who it waits for`;
  const next = goal === "gone" ? `${shows}, and --force waits for no controller` : shows;
  return `${name}: ${phase}${late}, ${reason}, ${message}: ${next}`;
}
