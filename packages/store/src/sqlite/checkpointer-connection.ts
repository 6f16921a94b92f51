// Apart from connection.ts: the thread of the checkpointer loads little else.

import { DatabaseSync } from "node:sqlite";

/**
 * A connection that puts the log back into the file. As sure of the disk as those that write (connection.ts): once it is done
 * they begin the log anew, and what it held is in the file alone.
 */
export function openCheckpointer(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;");
  return database;
}
