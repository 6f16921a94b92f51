import { openDatabase, type Database, type DatabaseOptions } from "../database.ts";
import { migrate, outboxMigrations, sharedMigrations } from "../migrations.ts";
import type { ThrowawayPostgres } from "./throwaway-postgres.ts";

/** A pool on a fresh database with the tables of leases, numbering and an outbox in the schema `lifecycle`. */
export interface ServicesDatabase extends AsyncDisposable {
  readonly database: Database;
  readonly url: string;
  /** Another pool on the same database, as another replica has. */
  openAnother(options?: Partial<DatabaseOptions>): Database;
}

export async function createServicesDatabase(
  server: ThrowawayPostgres,
  options: Partial<DatabaseOptions> = {},
): Promise<ServicesDatabase> {
  await using setup = new AsyncDisposableStack();
  const { url } = setup.use(
    await server.createDatabase({ template: await migratedTemplate(server) }),
  );
  const openAnother = (options: Partial<DatabaseOptions> = {}): Database =>
    owned.use(openDatabase({ url, name: "test", searchPath: ["lifecycle", "public"], ...options }));
  const owned = setup.use(new AsyncDisposableStack());
  const database = openAnother(options);
  const kept = setup.move();
  return { database, url, openAnother, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

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
  const sets = [sharedMigrations, outboxMigrations("lifecycle")];
  await migrate(database, sets, new AbortController().signal);
  return name;
}
