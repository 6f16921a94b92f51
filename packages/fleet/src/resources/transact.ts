// Writes of the API, each in one transaction.

import { validationFailed } from "@keelson/base";
import {
  TransactionConflict,
  ValueRefused,
  type Database,
  type Transaction,
} from "@keelson/database";
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
      if (!(error instanceof TransactionConflict) || attempt > conflictRetriesMax) {
        throw toCaller(error);
      }
    }
  }
}

/** A value that no column takes (a number beyond all bounds) is the caller's. */
function toCaller(error: unknown): unknown {
  if (!(error instanceof ValueRefused)) return error;
  const field = "body";
  return validationFailed({ field, message: "holds a value that cannot be stored" });
}
