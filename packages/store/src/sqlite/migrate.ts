// Brings a database file to the schema of this version.

import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { SchemaMismatch } from "../errors.ts";

const folder = new URL("./migrations/", import.meta.url);

/** Runs the migrations that the file lacks, each in a transaction of its own. Refuses a file of a newer version. */
export function migrate(database: DatabaseSync): void {
  const files = readdirSync(folder)
    .filter((name) => /^\d{4}-.+\.sql$/.test(name))
    .sort();
  const found = schemaVersion(database);
  if (found > files.length) {
    throw new SchemaMismatch(
      `the file has schema ${found}, this version knows ${files.length}: use the newer version`,
      { found, wanted: files.length },
    );
  }
  for (const [index, file] of files.entries()) {
    if (index < found) continue;
    database.exec("BEGIN IMMEDIATE");
    try {
      database.exec(readFileSync(new URL(file, folder), "utf8"));
      database.prepare("UPDATE meta SET schema_version = ?").run(index + 1);
      database.exec("COMMIT");
    } catch (error) {
      // SQLite has done so itself where the disk is full, and would fail in its place.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }
}

function schemaVersion(database: DatabaseSync): number {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
  if (table === undefined) return 0;
  return Number(database.prepare("SELECT schema_version FROM meta").get()?.["schema_version"]);
}
