// A database with the tables of fleet, for the length of a test.

import {
  migrate,
  openDatabase,
  sharedMigrations,
  statement,
  type Database,
  type DatabaseOptions,
} from "@keelson/database";
import type { ThrowawayPostgres } from "@keelson/database/testing";
import { fleetMigrations } from "../migrations.ts";

export interface FleetDatabase extends AsyncDisposable {
  readonly database: Database;
  readonly url: string;
  /** Another pool on the same database, as another replica has. */
  openAnother(options?: Partial<DatabaseOptions>): Database;
  /** Runs SQL as a person at a prompt would; several commands are one transaction, whose last gives the rows. */
  query<R extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly R[]>;
  /** The same on a connection of another pool, as another person would. */
  on(database: Database): FleetDatabase["query"];
}

export async function createFleetDatabase(
  server: ThrowawayPostgres,
  options: Partial<DatabaseOptions> = {},
): Promise<FleetDatabase> {
  await using setup = new AsyncDisposableStack();
  const { url } = setup.use(await server.createDatabase());
  const owned = setup.use(new AsyncDisposableStack());
  const openAnother = (more: Partial<DatabaseOptions> = {}): Database =>
    owned.use(openDatabase({ url, name: "fleet", searchPath: ["fleet", "public"], ...more }));
  const database = openAnother(options);
  await migrate(database, [sharedMigrations, fleetMigrations], never);
  const on =
    (pool: Database): FleetDatabase["query"] =>
    async <R extends object>(text: string, values: readonly unknown[] = []) => [
      ...(await pool.run(typed<R>(text, { isScript: text.includes(";") }), values, never)),
    ];
  const kept = setup.move();
  return {
    database,
    url,
    openAnother,
    query: on(database),
    on,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const never = new AbortController().signal;

function typed<R extends object>(text: string, options: { readonly isScript: boolean }) {
  return statement<readonly unknown[], R>(
    "query",
    (sql, values) => sql.unsafe(text, values as never[]),
    options,
  );
}
