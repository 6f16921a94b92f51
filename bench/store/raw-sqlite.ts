// The machine's own limit on SQLite: the store's rows, written straight through the driver.

import { DatabaseSync } from "node:sqlite";
import type { RawRow, RawWriter } from "./raw.ts";

/**
 * Writes to a file that the store has prepared, as durable as the store does: same tables, indexes and
 * settings, statements prepared once, a transaction for each call. It checks nothing, compares nothing and
 * remembers nothing, and the rows come ready-made.
 */
export function rawSqlite(path: string): RawWriter {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 4000;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -32768;
    PRAGMA temp_store = MEMORY;
  `);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const insertObject = database.prepare(`INSERT INTO objects
    (api_group, kind, namespace, name, resource_version, uid, api_version, generation, labels, deleted_at, object,
     created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)`);
  const updateObject =
    database.prepare(`UPDATE objects SET resource_version = ?, uid = ?, api_version = ?,
    generation = ?, labels = ?, deleted_at = NULL, object = ?, updated_at = ?
    WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ?`);
  const insertChange = database.prepare(`INSERT INTO changes
    (revision, type, api_group, kind, namespace, name, uid, object, previous, previous_revision)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const updateHead = database.prepare("UPDATE meta SET head = ?");
  const now = "2026-01-05 10:00:00.000";
  let head = 1;

  return {
    async create(rows) {
      begin.run();
      for (const { group, kind, namespace, name, uid, apiVersion, labels, text } of rows) {
        head += 1;
        const key = [group, kind, namespace, name];
        insertObject.run(...key, head, uid, apiVersion, 1, labels, text, now, now);
        insertChange.run(head, "ADDED", ...key, uid, text, null, null);
      }
      updateHead.run(head);
      commit.run();
    },
    async update(rows, before) {
      begin.run();
      rows.forEach((row: RawRow, index) => {
        const { group, kind, namespace, name, uid, apiVersion, labels, text } = row;
        head += 1;
        const key = [group, kind, namespace, name];
        updateObject.run(head, uid, apiVersion, 2, labels, text, now, ...key);
        const previous = before[index]?.text ?? null;
        insertChange.run(head, "MODIFIED", ...key, uid, text, previous, head - 1);
      });
      updateHead.run(head);
      commit.run();
    },
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}
