// The history checker: proves of a recorded run what docs/invariants.md promises of the store.

import { Context } from "./checks/context.ts";
import { checkDatabase } from "./checks/database.ts";
import { checkReads } from "./checks/reads.ts";
import { checkServers } from "./checks/servers.ts";
import type { Verdict } from "./checks/verdict.ts";
import { checkWatches } from "./checks/watches.ts";
import { checkWrites } from "./checks/writes.ts";
import type { History } from "./history.ts";

export type { Invariant, Verdict } from "./checks/verdict.ts";

/**
 * Every broken promise that the history gives away, in the order in which they show; none if it is clean.
 *
 * Pure. Sound if the history is: whatever was cut off the log was looked at before,
 * and bodies are unique but for updates that repeat one on purpose.
 */
export function checkHistory(history: History): readonly Verdict[] {
  const context = new Context(history);
  checkDatabase(context);
  checkWrites(context);
  checkReads(context);
  checkWatches(context);
  checkServers(context);
  return context.verdicts.list.sort((a, b) => a.at - b.at);
}
