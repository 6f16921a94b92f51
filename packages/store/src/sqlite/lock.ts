// Keeps a second server off a database file.

import { DatabaseSync } from "node:sqlite";
import { Locked } from "../errors.ts";
import { isBusy } from "./errors.ts";

/**
 * Holds an exclusive transaction on a sibling file for as long as the process lives.
 *
 * The operating system frees it when the process dies. `locking_mode = EXCLUSIVE` on
 * the database itself would shut out SQL clients that only read. Throws Locked.
 */
export function lockFile(path: string): Disposable {
  const database = new DatabaseSync(`${path}.lock`, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new Locked(
      `${path} is served by another process; stop that one, or choose another file`,
      {
        cause: error,
      },
    );
  }
  return {
    [Symbol.dispose]() {
      database.close();
    },
  };
}
