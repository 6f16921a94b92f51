// Writes of the API, each in one transaction.

import { TransactionConflict, type Database, type Transaction } from "@keelson/database";
import type { WorkBell } from "../work-bell.ts";

/** How often a transaction that stood in another's way is tried again. */
const conflictRetriesMax = 3;

/** Rings the bell after the commit. Two that stand in each other's way try again, one after the other. */
export async function transact<T>(
  { database, bell }: { readonly database: Database; readonly bell: WorkBell },
  work: (sql: Transaction) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const ringing = (sql: Transaction): Promise<T> => {
    sql.afterCommit(() => bell.ring());
    return work(sql);
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction(ringing, signal);
    } catch (error) {
      if (!(error instanceof TransactionConflict) || attempt > conflictRetriesMax) throw error;
    }
  }
}
