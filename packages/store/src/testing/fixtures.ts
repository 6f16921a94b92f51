// The databases on which the contract is tested.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "@keelson/base";
import postgres from "postgres";
import type { Backend } from "../backend.ts";
import { PostgresBackend } from "../postgres/backend.ts";
import { migratePostgres } from "../postgres/migrate.ts";
import { SqliteBackend } from "../sqlite/backend.ts";
import { Store } from "../store.ts";
import { type Bed, type Fixture, type OpenOptions, signal } from "./bed.ts";

export const sqliteMemory: Fixture = {
  name: "SQLite in memory",
  missing: undefined,
  isPersistent: false,
  isShared: false,
  async prepare(): Promise<Bed> {
    return {
      open: async (options = {}) =>
        openOn(new SqliteBackend(sqliteOptions(":memory:", options)), options),
      sql: undefined,
      objects: "objects",
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
};

/** A file in a folder of its own. */
export const sqliteFile: Fixture = {
  name: "SQLite file",
  missing: undefined,
  isPersistent: true,
  isShared: false,
  async prepare(): Promise<Bed> {
    const folder = await mkdtemp(join(tmpdir(), "keelson-store-"));
    const path = join(folder, "store.db");
    return {
      open: async (options = {}) =>
        openOn(new SqliteBackend(sqliteOptions(path, options)), options),
      async sql(text) {
        using database = new DatabaseSync(path, { timeout: 5000 });
        return database.prepare(text).all();
      },
      objects: "objects",
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

/** A schema of its own in a database that the caller provides. */
export function postgresFixture(server: {
  readonly name: string;
  readonly missing: string | undefined;
  readonly url: () => Promise<string>;
}): Fixture {
  let schemas = 0;
  return {
    name: server.name,
    missing: server.missing,
    isPersistent: true,
    isShared: true,
    async prepare(): Promise<Bed> {
      const url = await server.url();
      const schema = `bed_${(schemas += 1)}`;
      await migratePostgres({ url, schema });
      const sql = postgres(url, {
        max: 1,
        onnotice: () => undefined,
        connection: { search_path: schema },
      });
      return {
        async open(options = {}) {
          // A test may stop the store's clock; the deadlines of real calls go on.
          const clock = systemClock;
          const hooks =
            options.onStatement === undefined ? {} : { onStatement: options.onStatement };
          const backend = await PostgresBackend.open({ url, schema, clock, ...hooks }, signal);
          return openOn(backend, options);
        },
        sql: async (text) => sql.unsafe(text),
        objects: "resources",
        async [Symbol.asyncDispose]() {
          await sql`DROP SCHEMA ${sql(schema)} CASCADE`;
          await sql.end();
        },
      };
    },
  };
}

/** Compaction by hand only: tests say when. */
async function openOn(
  backend: Backend,
  { clock = systemClock, limits }: OpenOptions,
): Promise<Store> {
  return Store.open(
    { backend, clock, limits: { compactionEveryMs: undefined, ...limits } },
    signal,
  );
}

function sqliteOptions(path: string, { clock = systemClock, onStatement }: OpenOptions) {
  return { path, clock, ...(onStatement === undefined ? {} : { onStatement }) };
}
