// A database of PostgreSQL for one test, with a hand of its own in it.

import { systemClock } from "@keelson/base";
import postgres, { type Sql } from "postgres";
import { PostgresBackend, type PostgresOptions } from "../postgres/backend.ts";
import { migratePostgres } from "../postgres/migrate.ts";
import { Store } from "../store.ts";
import { signal } from "./bed.ts";

export interface Database extends AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  readonly open: (options?: Partial<PostgresOptions>) => Promise<Store>;
}

/** A server that gives away databases of their own. */
interface Server {
  createDatabase(): Promise<AsyncDisposable & { readonly url: string }>;
}

/** A migrated database of its own. */
export async function freshDatabase(
  server: Promise<Server>,
  { isMigrated = true }: { readonly isMigrated?: boolean } = {},
): Promise<Database> {
  const made = await (await server).createDatabase();
  const { url } = made;
  if (isMigrated) await migratePostgres({ url, schema: "ark" });
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connection: { search_path: "ark" },
  });
  return {
    url,
    sql,
    async open(options = {}) {
      const backend = await PostgresBackend.open({ url, clock: systemClock, ...options }, signal);
      return Store.open({ backend, limits: { compactionEveryMs: undefined } }, signal);
    },
    async [Symbol.asyncDispose]() {
      await sql.end();
      await made[Symbol.asyncDispose]();
    },
  };
}
