// The object store of the Kubernetes API, as the configuration wants it.

import { access, readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import type { Clock, Log, Metrics, Random } from "@keelson/base";
import {
  migratePostgres,
  PostgresBackend,
  type PostgresOptions,
  SqliteBackend,
  Store,
  Unavailable,
  type Backend,
} from "@keelson/store";
import type { Config } from "./config.ts";
import { StartError } from "./start-error.ts";
import { objectsDatabase, storeFailure, unreachableFailure } from "./start-failure.ts";
import { whileAway } from "./while-away.ts";

export interface OpenStoreOptions {
  readonly config: Config;
  /** Whether the schema is brought up to date first; otherwise one that is behind is refused. */
  readonly migrates: boolean;
  /** The services' database, asked for where the store is told PostgreSQL and no host of its own. */
  readonly databaseUrl: () => string | Promise<string>;
  /** How long a PostgreSQL that is not there yet is waited for. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Opens the store. Throws a `StartError` that names a PostgreSQL which is away, or a file that cannot be used, and else what the
 * store throws.
 */
export async function openStore(options: OpenStoreOptions, signal: AbortSignal): Promise<Store> {
  const { config, clock, random, log, metrics } = options;
  try {
    const backend = await openBackend(options, signal);
    const limits = { compactionEveryMs: config.compactionInterval };
    return await Store.open({ backend, clock, random, log, metrics, limits }, signal);
  } catch (error) {
    throw config.storageDriver === "sqlite" ? fileFailure(error, config) : error;
  }
}

/** Throws where the file of a store that must be there is not: opening it would make an empty one without a word. */
export async function requireStore({
  storageDriver,
  sqlitePath,
}: Pick<Config, "storageDriver" | "sqlitePath">): Promise<void> {
  if (storageDriver !== "sqlite") return;
  try {
    await access(sqlitePath);
  } catch (cause) {
    const fix = "name the folder it is in with --data-dir, or the file with --sqlite-path";
    const reason = (cause as NodeJS.ErrnoException).code;
    throw new StartError("USAGE", `there is no store at ${sqlitePath} (${reason}): ${fix}`, {
      cause,
    });
  }
}

async function openBackend(options: OpenStoreOptions, signal: AbortSignal): Promise<Backend> {
  const { config, clock, random, log, metrics } = options;
  switch (config.storageDriver) {
    case "sqlite":
      return new SqliteBackend({ path: config.sqlitePath, clock });
    case "postgresql": {
      const { postgresSchema: schema } = config;
      const address = await storeAddress(options);
      const open = async (): Promise<Backend> => {
        if (options.migrates) await migratePostgres({ ...address, schema });
        return PostgresBackend.open({ ...address, schema, clock, random, log, metrics }, signal);
      };
      try {
        return await whileAway({ ...options, isAway }, open, signal);
      } catch (error) {
        const what = "the objects of the Kubernetes API";
        throw statementFailure(
          unreachableFailure(error, { what, ...objectsDatabase(config) }),
          config,
        );
      }
    }
  }
}

/** What keeps a file of SQLite from being the store, with its path and what to do. */
function fileFailure(error: unknown, config: Config): unknown {
  const { sqlitePath: path } = config;
  const other = "name another file with --sqlite-path";
  // The system's, of the path; SQLite's, of what it finds there; or the store's.
  if (error instanceof Error && "errno" in error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const fix = pathFixes[code] ?? "let this user read and write it, its .lock and its folder";
    const message = `${path} cannot be used (${code}): ${fix}, or ${other}`;
    return new StartError("USAGE", message, { cause: error });
  }
  if (error instanceof Error && "errcode" in error) {
    const message = `${path} is no store of ours: ${error.message}: ${other}`;
    return new StartError("USAGE", message, { cause: error });
  }
  return storeFailure(error, config);
}

const pathFixes: Readonly<Record<string, string>> = {
  ENOENT: "make its folder",
  ENOTDIR: "make its folder",
  ENOSPC: "make room",
  EDQUOT: "make room",
};

function isAway(error: unknown): error is Error {
  return error instanceof Unavailable;
}

/** Brings the schema of the store up to date; the file of SQLite does that by itself. */
export async function migrateStore(
  options: Pick<OpenStoreOptions, "config" | "databaseUrl">,
): Promise<void> {
  const { storageDriver, postgresSchema: schema, postgresServerRole: serverRole } = options.config;
  if (storageDriver !== "postgresql") return;
  const address = await storeAddress(options);
  try {
    await migratePostgres({ ...address, schema, ...(serverRole !== undefined && { serverRole }) });
  } catch (error) {
    throw statementFailure(error, options.config);
  }
}

/** A statement of ours that the server does not take, as where somebody else has made tables of our names. Anything else stays as it is. */
function statementFailure(error: unknown, config: Config): unknown {
  if (!(error instanceof Error) || error.name !== "PostgresError") return error;
  const { postgresSchema: schema } = config;
  const fix = `see what somebody else has made in schema ${schema}, or name another with --postgres-schema`;
  const message = `${objectsDatabase(config).name}: ${error.message}: ${fix}`;
  return new StartError("DATABASE_UNAVAILABLE", message, { cause: error });
}

/** Where the store's PostgreSQL is, and who we are to it. Throws a `StartError` where the file of the password cannot be read. */
export async function storeAddress({
  config,
  databaseUrl,
}: Pick<OpenStoreOptions, "config" | "databaseUrl">): Promise<
  Pick<PostgresOptions, "url" | "password">
> {
  const { postgresHost: host, postgresPasswordFile: file } = config;
  if (host === undefined) return { url: await databaseUrl() };
  const url = new URL("postgres://host");
  url.hostname = isIPv6(host) ? `[${host}]` : host;
  url.port = String(config.postgresPort);
  url.pathname = `/${config.postgresDatabase}`;
  // By hand: a URL takes a `%` as it is, and whoever reads it takes that for the beginning of a character.
  url.username = encodeURIComponent(config.postgresUsername);
  url.password = encodeURIComponent(config.postgresPassword ?? "");
  url.searchParams.set("sslmode", config.postgresSslmode);
  if (file === undefined) return { url: url.href };
  const password = (): Promise<string> => passwordIn(file);
  await password(); // A file that cannot be read is told now, and not as a database that is away.
  return { url: url.href, password };
}

async function passwordIn(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const fix = "name the file with the password of PostgreSQL with --postgres-password-file";
    throw new StartError("USAGE", `${file} cannot be read (${code}): ${fix}`, { cause });
  }
}
