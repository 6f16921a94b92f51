import { openDatabase, type Database, type DatabaseOptions } from "../database.ts";
import { migrate, sharedMigrations, type MigrationSet } from "../migrations.ts";
import { statement } from "../sql/statement.ts";
import { patience } from "./patience.ts";
import type { ThrowawayDatabase, ThrowawayPostgres } from "./throwaway-postgres.ts";

/** A service's tables. */
export interface Service {
  /** What its pools are called; no two services of a test run share one. */
  readonly name: string;
  readonly searchPath: readonly string[];
  /** Besides those that all services share. */
  readonly migrations: readonly MigrationSet[];
  /** Whether they set something of the database itself, which a copy of it would lack. */
  readonly setsDatabase?: boolean;
}

/** A pool on a fresh database with the tables of a service. */
export interface ServiceDatabase extends AsyncDisposable {
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
  on(database: Database): ServiceDatabase["query"];
}

export async function createServiceDatabase(
  server: ThrowawayPostgres,
  service: Service,
  options: Partial<DatabaseOptions> = {},
): Promise<ServiceDatabase> {
  await using setup = new AsyncDisposableStack();
  const { url } = setup.use(await createMigrated(server, service));
  const owned = setup.use(new AsyncDisposableStack());
  const { name, searchPath } = service;
  const openAnother = (more: Partial<DatabaseOptions> = {}): Database =>
    owned.use(openDatabase({ url, name, searchPath, ...patience, ...more }));
  const database = openAnother(options);
  const kept = setup.move();
  return {
    database,
    url,
    openAnother,
    query: queryOn(database),
    on: queryOn,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function createMigrated(
  server: ThrowawayPostgres,
  service: Service,
): Promise<ThrowawayDatabase> {
  if (service.setsDatabase !== true) {
    return await server.createDatabase({ template: await migratedTemplate(server, service) });
  }
  const fresh = await server.createDatabase();
  await migrateAll(fresh, service);
  return fresh;
}

const templates = new WeakMap<ThrowawayPostgres, Map<string, Promise<string>>>();

/** Migrated once per server; tests get copies, which takes a tenth of the time. */
function migratedTemplate(server: ThrowawayPostgres, service: Service): Promise<string> {
  const ofServer = templates.get(server) ?? new Map<string, Promise<string>>();
  templates.set(server, ofServer);
  const made = ofServer.get(service.name) ?? makeTemplate(server, service);
  ofServer.set(service.name, made);
  return made;
}

async function makeTemplate(server: ThrowawayPostgres, service: Service): Promise<string> {
  const fresh = await server.createDatabase();
  await migrateAll(fresh, service);
  return fresh.name;
}

async function migrateAll({ url }: ThrowawayDatabase, { migrations }: Service): Promise<void> {
  await using database = openDatabase({ url, name: "migrating", ...patience });
  await migrate(database, [sharedMigrations, ...migrations], never);
}

const never = new AbortController().signal;

function queryOn(database: Database): ServiceDatabase["query"] {
  return async <R extends object>(text: string, values: readonly unknown[] = []) => {
    const typed = statement<readonly unknown[], R>(
      "query",
      (sql, values) => sql.unsafe(text, values as never[]),
      { isScript: text.includes(";") },
    );
    return [...(await database.run(typed, values, never))];
  };
}
