// The object store of the Kubernetes API, as the configuration wants it.

import { readFile } from "node:fs/promises";
import type { Clock, Log, Metrics, Random } from "@keelson/base";
import {
  migratePostgres,
  PostgresBackend,
  SqliteBackend,
  Store,
  type Backend,
} from "@keelson/store";
import type { Config } from "./config.ts";

/** The schema of the store in a PostgreSQL database. */
const schema = "ark";

export interface OpenStoreOptions {
  readonly config: Config;
  /** The services' database, used where the store is told PostgreSQL and no host of its own. */
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Opens the store and brings its schema up to date. Throws what the store throws. */
export async function openStore(options: OpenStoreOptions, signal: AbortSignal): Promise<Store> {
  const { clock, random, log, metrics } = options;
  const backend = await openBackend(options, signal);
  return Store.open({ backend, clock, random, log, metrics }, signal);
}

async function openBackend(options: OpenStoreOptions, signal: AbortSignal): Promise<Backend> {
  const { config, clock, random, log, metrics } = options;
  switch (config.storageDriver) {
    case "sqlite":
      return new SqliteBackend({ path: config.sqlitePath, clock });
    case "postgresql": {
      const url = await storeUrl(options);
      if (config.autoMigrate) await migratePostgres({ url, schema });
      return PostgresBackend.open({ url, schema, clock, random, log, metrics }, signal);
    }
  }
}

async function storeUrl({ config, databaseUrl }: OpenStoreOptions): Promise<string> {
  const { postgresHost: host, postgresPasswordFile: file } = config;
  if (host === undefined) return databaseUrl;
  const url = new URL("postgres://host");
  url.hostname = host;
  url.port = String(config.postgresPort);
  url.pathname = `/${config.postgresDatabase}`;
  url.username = config.postgresUsername;
  url.password =
    config.postgresPassword ?? (file === undefined ? "" : (await readFile(file, "utf8")).trim());
  url.searchParams.set("sslmode", config.postgresSslmode);
  return url.href;
}
