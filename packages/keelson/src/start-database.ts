// The services' database: one of its own beside the process or the one that is configured, reached and migrated.

import { join } from "node:path";
import type { Clock, Log, Random } from "@keelson/base";
import {
  isMigrated,
  openDatabase,
  SchemaTooNew,
  startEmbeddedPostgres,
  type Database,
  type DatabaseOptions,
  type EmbeddedPostgres,
} from "@keelson/database";
import type { Config } from "./config.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import { readyDatabase } from "./ready-database.ts";
import { refusedFailure, servicesDatabase, unreachableFailure } from "./start-failure.ts";
import { startPatienceMs } from "./while-away.ts";

export interface StartDatabaseOptions {
  readonly config: Config;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
  /** Told of each statement; left out: nobody is. */
  readonly onRun: DatabaseOptions["onRun"];
  readonly onProgress: (step: string) => void;
}

export interface StartedDatabase extends AsyncDisposable {
  /** The settings of its pool, for pools beside it. */
  readonly pool: DatabaseOptions;
  readonly database: Database;
  /** Rejects unless it answers, at the schema of this version or, once we run, of a newer one. */
  check(signal: AbortSignal): Promise<void>;
  /** Another database beside it, where the server is our own. */
  databaseApart(name: string, signal: AbortSignal): Promise<string | undefined>;
}

/** Throws what `startEmbeddedPostgres` and `readyDatabase` throw, and names a database that is away or not for us. */
export async function startDatabase(
  options: StartDatabaseOptions,
  signal: AbortSignal,
): Promise<StartedDatabase> {
  const { config, clock, random, log, metrics, onRun } = options;
  await using undo = new AsyncDisposableStack();
  const postgres = await embeddedPostgres(options, signal);
  if (postgres !== undefined) undo.use(postgres);
  const pool: DatabaseOptions = {
    clock,
    metrics,
    url: config.databaseUrl ?? postgres?.url ?? "",
    name: "keelson",
    connectionsMax: config.databaseMaxOpenConns,
    lifetimeMs: config.databaseConnMaxLifetime,
    idleMs: config.databaseConnMaxIdleTime,
    ...(onRun === undefined ? {} : { onRun }),
  };
  const database = undo.use(openDatabase(pool));
  const { serviceMigrations: migrations } = await import("./service-migrations.ts");
  const { autoMigrate } = config;
  const shared = { clock, random, log, patienceMs: startPatienceMs };
  try {
    await readyDatabase({ ...shared, database, migrations, autoMigrate }, signal);
  } catch (error) {
    const named = { what: "the services' data", ...servicesDatabase(config) };
    throw unreachableFailure(refusedFailure(error, config), named);
  }
  let isOutdated = false;
  const owned = undo.move();
  return {
    pool,
    database,
    check: async (within) => {
      try {
        if (await isMigrated(database, migrations, within)) return;
      } catch (error) {
        if (!(error instanceof SchemaTooNew)) throw error;
        // A newer replica has migrated. Until it takes our place we go on: all of the old ones unready at once would be an outage.
        if (!isOutdated)
          log.warn(
            { reason: error.message },
            "outdated: a newer version has migrated the database",
          );
        isOutdated = true;
        return;
      }
      throw new Error("the schema of the database is behind");
    },
    databaseApart: async (name, within) => postgres?.databaseApart(name, within),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function embeddedPostgres(
  { config, dataDir, clock, random, log, onProgress }: StartDatabaseOptions,
  signal: AbortSignal,
): Promise<EmbeddedPostgres | undefined> {
  if (config.databaseUrl !== undefined) return undefined;
  return startEmbeddedPostgres(
    {
      dataDir: join(dataDir, "postgres"),
      port: config.databasePort,
      clock,
      random,
      log: log.child({ part: "postgres" }),
      onProgress: (step) => onProgress(progressOfPostgres[step]),
    },
    signal,
  );
}

const progressOfPostgres = {
  initialising: "making the database (only the first time)",
  starting: "starting PostgreSQL",
  recovering: "recovering the database after a crash",
} as const;
