import type { Database, Transaction } from "@keelson/database";
import type { WorkBell } from "../work-bell.ts";
import { transact } from "./transact.ts";

/** What the work answers; what it wrote is as if it had never been. */
export async function undone<T>(
  options: { readonly database: Database; readonly bell: WorkBell },
  work: (sql: Transaction) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const rollback = new Undone();
  let made: { readonly value: T } | undefined;
  try {
    return await transact(
      options,
      async (sql) => {
        made = { value: await work(sql) };
        throw rollback;
      },
      signal,
    );
  } catch (error) {
    if (error !== rollback || made === undefined) throw error;
    return made.value;
  }
}

/** Thrown to roll a transaction back that did all that it should. */
class Undone extends Error {
  readonly code = "UNDONE";
  override readonly name = "Undone";
}
