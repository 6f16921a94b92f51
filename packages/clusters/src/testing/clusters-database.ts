// A database with the tables of cluster lifecycle, for the length of a test.

import {
  migrate,
  openDatabase,
  sharedMigrations,
  statement,
  type Database,
  type DatabaseOptions,
} from "@keelson/database";
import type { ThrowawayPostgres } from "@keelson/database/testing";
import { clustersMigrations } from "../migrations.ts";

export interface ClustersDatabase extends AsyncDisposable {
  readonly database: Database;
  readonly url: string;
  /** Another pool on the same database, as another replica has. */
  openAnother(options?: Partial<DatabaseOptions>): Database;
  /** Runs SQL as a person at a prompt would; several commands are one transaction, whose last gives the rows. */
  query<R extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly R[]>;
}

export async function createClustersDatabase(
  server: ThrowawayPostgres,
  options: Partial<DatabaseOptions> = {},
): Promise<ClustersDatabase> {
  await using setup = new AsyncDisposableStack();
  const template = await migratedTemplate(server);
  const { url } = setup.use(await server.createDatabase({ template }));
  const owned = setup.use(new AsyncDisposableStack());
  const openAnother = (more: Partial<DatabaseOptions> = {}): Database =>
    owned.use(
      openDatabase({ url, name: "clusters", searchPath: ["lifecycle", "public"], ...more }),
    );
  const database = openAnother(options);
  const kept = setup.move();
  return {
    database,
    url,
    openAnother,
    query: async <R extends object>(text: string, values: readonly unknown[] = []) => [
      ...(await database.run(typed<R>(text, { isScript: text.includes(";") }), values, never)),
    ],
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const never = new AbortController().signal;
const templates = new WeakMap<ThrowawayPostgres, Promise<string>>();

/** Migrated once per server; tests get copies, which takes a tenth of the time. */
function migratedTemplate(server: ThrowawayPostgres): Promise<string> {
  const made = templates.get(server) ?? makeTemplate(server);
  templates.set(server, made);
  return made;
}

async function makeTemplate(server: ThrowawayPostgres): Promise<string> {
  const { name, url } = await server.createDatabase();
  await using database = openDatabase({ url, name: "migrating" });
  await migrate(database, [sharedMigrations, ...clustersMigrations], never);
  return name;
}

function typed<R extends object>(text: string, options: { readonly isScript: boolean }) {
  return statement<readonly unknown[], R>(
    "query",
    (sql, values) => sql.unsafe(text, values as never[]),
    options,
  );
}
