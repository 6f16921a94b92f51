// The commands around a transaction's statements.

import { statement } from "./statement.ts";

export interface TransactionModes {
  readonly isolation: "read committed" | "repeatable read" | "serializable";
  readonly readOnly: boolean;
  /** `relaxed`: a crash of the server may undo it although it was committed, as if it had come a moment later. */
  readonly durability: "full" | "relaxed";
}

export const begin = statement<TransactionModes>("begin", (sql, modes) => {
  const isolation = sql.unsafe(modes.isolation);
  const access = sql.unsafe(modes.readOnly ? "read only" : "read write");
  const relax = sql.unsafe(
    modes.durability === "relaxed" ? "; SET LOCAL synchronous_commit TO off" : "",
  );
  return sql`BEGIN ISOLATION LEVEL ${isolation} ${access}${relax}`.simple();
});

export const commit = statement<undefined>("commit", (sql) => sql`COMMIT`.simple());

export const rollback = statement<undefined>("rollback", (sql) => sql`ROLLBACK`.simple());
