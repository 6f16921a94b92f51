// Brings a database to the schema of this version. The server itself runs no DDL.

import { readdirSync, readFileSync } from "node:fs";
import type { Sql, TransactionSql } from "postgres";
import type { Clock } from "@keelson/base";
import { SchemaMismatch } from "../errors.ts";
import { connect, Connection } from "./connection.ts";
import { isForbidden, isMissingTable, isUndefined, toStoreError } from "./errors.ts";

const folder = new URL("./migrations/", import.meta.url);

/** The schema that this version is written for. */
export const schemaVersion = 1;

export interface MigrateOptions {
  readonly url: string;
  /** Asked for, where the URL has no password. */
  readonly password?: (() => Promise<string>) | undefined;
  readonly schema: string;
  /** The role that runs the server, if it is another one: it is granted what it needs. */
  readonly serverRole?: string;
}

/**
 * Runs the migrations that the database lacks, all in one transaction, under an advisory
 * lock: of several that start at once one does the work. Answers the version it left.
 */
export async function migratePostgres({
  url,
  password,
  schema,
  serverRole,
}: MigrateOptions): Promise<number> {
  const sql = connect({ url, password, prepare: false });
  try {
    await checkServer(sql);
    return await sql.begin(async (sql) => {
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`keelson store ${schema}`}, 0))`;
      await sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`;
      await sql`SELECT set_config('search_path', ${quote(schema)}, true)`;
      const found = await versionOf(sql, schema);
      if (found > schemaVersion) throw tooNew(found);
      for (const [index, file] of migrationFiles().entries()) {
        if (index < found) continue;
        await sql.unsafe(readFileSync(new URL(file, folder), "utf8"));
        await sql`UPDATE ${sql(schema)}.meta SET schema_version = ${index + 1}`;
      }
      if (serverRole !== undefined) await grant(sql, { url, schema, role: serverRole });
      return schemaVersion;
    });
  } catch (error) {
    throw forbidden(error, { url, schema, what: "make or change" }) ?? toStoreError(error);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** What a database is to us, before anything is made or served there. */
export interface Inspected {
  /** Of the server. */
  readonly version: string;
  /** The version of the schema, 0 where there is none, and that of ours. */
  readonly found: number;
  readonly wanted: number;
  /** Whether we may make a schema. */
  readonly mayCreate: boolean;
}

/** Looks at a database, and refuses one that could not be served after a migration either. Changes nothing. */
export async function inspectPostgres(
  { url, password, schema, clock }: Omit<MigrateOptions, "serverRole"> & { readonly clock: Clock },
  signal: AbortSignal,
): Promise<Inspected> {
  const unheard = (): void => undefined;
  const told = { onStatement: unheard, onChange: unheard };
  const options = { url, password, prepare: false, clock, callMsMax: inspectMsMax, ...told };
  await using connection = new Connection(options);
  try {
    return await connection.run("inspect", (sql) => inspect(sql, schema), signal);
  } catch (error) {
    throw forbidden(error, { url, schema, what: "use" }) ?? error;
  }
}

const inspectMsMax = 5_000;

async function inspect(sql: Sql, schema: string): Promise<Inspected> {
  await checkServer(sql);
  await checkIsolation(sql);
  const found = await versionOf(sql, schema);
  if (found > schemaVersion + 1) throw tooNew(found);
  const [row] = await sql`
    SELECT current_setting('server_version') AS version,
      has_database_privilege(current_database(), 'CREATE') AS may`;
  const { version, may } = row ?? {};
  return { version: String(version), found, wanted: schemaVersion, mayCreate: may === true };
}

/** Refuses a schema that this version cannot serve; one step newer is tolerated, for rolling upgrades. */
export async function checkSchema(sql: Sql, schema: string): Promise<void> {
  await checkServer(sql);
  await checkIsolation(sql);
  const found = await versionOf(sql, schema);
  if (found === 0) {
    throw new SchemaMismatch(
      `schema ${schema} holds no store: run "keelson apiserver migrate" on this database first`,
      { found, wanted: schemaVersion },
    );
  }
  if (found < schemaVersion) {
    throw new SchemaMismatch(
      `schema ${schema} is at version ${found}, this server needs ${schemaVersion}: run "keelson apiserver migrate"`,
      { found, wanted: schemaVersion },
    );
  }
  if (found > schemaVersion + 1) throw tooNew(found);
}

/**
 * What a start says whose user may not use or change the schema; undefined for anything else. Requests go on calling that
 * what it is to them: a mistake of ours.
 */
export function forbidden(
  cause: unknown,
  {
    url,
    schema,
    what,
  }: { readonly url: string; readonly schema: string; readonly what: "make or change" | "use" },
): SchemaMismatch | undefined {
  if (!isForbidden(cause)) return undefined;
  const { user, database } = partsOf(url);
  const { message } = cause as Error;
  const fix = `run "keelson apiserver migrate" as the owner of database and schema, with --postgres-server-role ${user}`;
  return new SchemaMismatch(
    `${user} may not ${what} schema ${schema} of database ${database}: ${message}: ${fix}`,
    { found: 0, wanted: schemaVersion, cause },
  );
}

/** Who we are, and where. */
function partsOf(url: string): { readonly user: string; readonly database: string } {
  const { username, pathname } = URL.parse(url) ?? { username: "", pathname: "" };
  const user = decodeURIComponent(username);
  return { user, database: pathname.slice(1) || user };
}

/** What we rely on came with version 15. */
async function checkServer(sql: Sql): Promise<void> {
  const [row] = await sql`SELECT current_setting('server_version_num')::int / 10000 AS major`;
  const found = Number(row?.["major"]);
  if (found >= oldestServer) return;
  throw new SchemaMismatch(`PostgreSQL ${found} is too old: ${oldestServer} or newer is needed`, {
    found,
    wanted: oldestServer,
  });
}

const oldestServer = 15;

/** A batch judges by a snapshot taken after it was granted the counter; stricter levels keep the one from before. */
async function checkIsolation(sql: Sql): Promise<void> {
  const [row] = await sql`SELECT current_setting('default_transaction_isolation') AS level`;
  const level = String(row?.["level"]);
  if (level === "read committed") return;
  throw new SchemaMismatch(
    `default_transaction_isolation is ${level}: the store needs read committed; set it for its role or database`,
    { found: 0, wanted: schemaVersion },
  );
}

function migrationFiles(): string[] {
  const files = readdirSync(folder).filter((name) => /^\d{4}-.+\.sql$/.test(name));
  return files.sort();
}

async function versionOf(sql: Sql | TransactionSql, schema: string): Promise<number> {
  const [table] = await sql`SELECT to_regclass(${`${quote(schema)}.meta`}) AS meta`;
  if (table?.["meta"] === null) return 0;
  try {
    const [row] = await sql`SELECT schema_version FROM ${sql(schema)}.meta`;
    return Number(row?.["schema_version"] ?? 0);
  } catch (error) {
    if (isMissingTable(error)) return 0;
    throw error;
  }
}

async function grant(
  sql: TransactionSql,
  { url, schema, role }: { readonly url: string; readonly schema: string; readonly role: string },
): Promise<void> {
  try {
    await sql`GRANT USAGE ON SCHEMA ${sql(schema)} TO ${sql(role)}`;
  } catch (cause) {
    if (!isUndefined(cause)) throw cause;
    const { message } = cause as Error;
    const fix = "make the role first, or name another with --postgres-server-role";
    throw new SchemaMismatch(
      `schema ${schema} of database ${partsOf(url).database} cannot be granted: ${message}: ${fix}`,
      { found: 0, wanted: schemaVersion, cause },
    );
  }
  await sql`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${sql(schema)} TO ${sql(role)}`;
  await sql`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${sql(schema)} TO ${sql(role)}`;
}

function tooNew(found: number): SchemaMismatch {
  return new SchemaMismatch(
    `the database has schema ${found}, this version knows ${schemaVersion}: use the newer version`,
    { found, wanted: schemaVersion },
  );
}

function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
