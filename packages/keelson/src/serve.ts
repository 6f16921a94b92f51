// The composition root: every part is built here, in order, and undone in the reverse order.

import { join } from "node:path";
import { RestError, TaskScope, type Clock, type Log, type Random } from "@keelson/base";
import { clustersMigrations } from "@keelson/clusters";
import {
  DatabaseError,
  isMigrated,
  openDatabase,
  sharedMigrations,
  startEmbeddedPostgres,
  type DatabaseOptions,
  type EmbeddedPostgres,
  type MigrationSet,
} from "@keelson/database";
import { fleetMigrations } from "@keelson/fleet";
import type { Store } from "@keelson/store";
import { authenticatorOf } from "./authenticator-of.ts";
import { AuditLog } from "./audit-log.ts";
import type { Config } from "./config.ts";
import { claimDataDir } from "./data-dir.ts";
import { encryptionKeys } from "./encryption-keys.ts";
import { Health, type Check } from "./health.ts";
import { buildMetricsServer } from "./metrics-server.ts";
import { openStore } from "./open-store.ts";
import { startClusters } from "./start-clusters.ts";
import { startFleet } from "./start-fleet.ts";
import { startOperator } from "./start-operator.ts";
import { kubeconfigOf, startKubernetes } from "./start-kubernetes.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import { readyDatabase } from "./ready-database.ts";
import { ApiDocument } from "./rest/openapi.ts";
import { ownRoutes } from "./rest/own-routes.ts";
import { RequestTrace } from "./rest/request-signal.ts";
import { buildRest, type RestServer } from "./rest/server.ts";
import { TlsFiles } from "./rest/tls-files.ts";
import { writeRunFile, type Addresses } from "./run-file.ts";
import { listenFailure } from "./start-failure.ts";

/** A part that replicas divide among them; `store` runs only where everything runs in one process. */
export type Part = "rest" | "worker" | "scheduler" | "operator" | "store";

export interface ServeOptions {
  readonly config: Config;
  readonly parts: ReadonlySet<Part>;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
  /** Called when something begins that takes a while. */
  readonly onProgress: (step: string) => void;
  /** Called once everything answers. */
  readonly onReady: (addresses: Addresses) => void;
}

/** The database of the platform's apps, beside our own in the embedded PostgreSQL. */
const appsDatabase = "plattr";

/** How long a database of somebody else is waited for at the start. */
const databasePatienceMs = 30_000;

/** Builds every part, runs until `signal` aborts or a part fails, and undoes everything. */
export async function serve(options: ServeOptions, signal: AbortSignal): Promise<void> {
  const { config, parts, clock, random, log, metrics, onProgress } = options;
  const logsRequests = config.logLevel === "debug";
  const shared = { clock, random, log, metrics, logsRequests };
  const trace = new RequestTrace();

  await using dataDir = await claimDataDir({ path: config.dataDir, clock, random }, signal);
  await using postgres = await embeddedPostgres(options, dataDir.path, signal);
  const databaseUrl = config.databaseUrl ?? postgres?.url ?? "";
  const pool = {
    ...shared,
    url: databaseUrl,
    name: "keelson",
    connectionsMax: config.databaseMaxOpenConns,
    lifetimeMs: config.databaseConnMaxLifetime,
    idleMs: config.databaseConnMaxIdleTime,
    ...(logsRequests ? { onRun: statementLog(log, trace) } : {}),
  };
  await using database = openDatabase(pool);
  const { autoMigrate } = config;
  const patienceMs = databasePatienceMs;
  await readyDatabase({ ...shared, database, migrations, autoMigrate, patienceMs }, signal);
  await using store = parts.has("store")
    ? await openStore({ ...shared, config, databaseUrl, migrates: autoMigrate }, signal)
    : undefined;
  await using auditLog =
    store === undefined ? undefined : await AuditLog.openIfWanted(config.auditLogPath, shared);
  await using kubernetes =
    store === undefined
      ? undefined
      : await startKubernetes(
          { ...shared, config, store, servingFiles: undefined, auditLog },
          signal,
        );
  await using clusters =
    parts.has("rest") || parts.has("scheduler")
      ? await startClusters(
          {
            ...shared,
            config,
            parts: { rest: parts.has("rest"), scheduler: parts.has("scheduler") },
            database: pool,
          },
          signal,
        )
      : undefined;
  await using fleet =
    parts.has("rest") || parts.has("worker")
      ? await startFleet(
          {
            ...shared,
            config,
            parts: { rest: parts.has("rest"), worker: parts.has("worker") },
            database: pool,
            keys: await encryptionKeys(config.encryptionKey, { dataDir: dataDir.path, random }),
            local:
              kubernetes === undefined
                ? undefined
                : { server: kubernetes.url, kubeconfig: kubeconfigOf(config) },
            ...(clusters?.routes === undefined ? {} : { topicEvents: clusters.routes.topicEvents }),
          },
          signal,
        )
      : undefined;

  const operator = parts.has("operator")
    ? await startOperator(
        {
          ...shared,
          config,
          own:
            kubernetes === undefined
              ? undefined
              : {
                  kubeconfig: kubeconfigOf(config),
                  databaseUrl: await postgres?.databaseApart(appsDatabase, signal),
                },
        },
        signal,
      )
    : undefined;

  const checks = [
    databaseCheck(database),
    ...storeCheck(store),
    ...(operator === undefined ? [] : [operator.check]),
  ];
  const health = new Health({ checks, clock, metrics });
  const components = {
    // Asked for each time: trouble with events shows here, and makes nobody unready.
    get events() {
      return { ...(clusters?.transport ?? { transport: config.eventTransport }) };
    },
  };
  const drainMs = config.shutdownGrace / 2;
  const limits = {
    readMs: config.readTimeout,
    writeMs: config.writeTimeout,
    idleMs: config.idleTimeout,
    drainMs,
  };
  await using metricsServer = config.metricsEnabled
    ? await buildMetricsServer({
        ...shared,
        health,
        components,
        limits,
        address: config.metricsAddress,
      })
    : undefined;
  const tls = await tlsFiles(config);
  await using rest = parts.has("rest")
    ? await buildRest({
        ...shared,
        limits,
        authenticator: await authenticatorOf(config, { clock, log }),
        corsOrigins: config.corsOrigins,
        translate: databaseTrouble,
        ...(logsRequests ? { trace } : {}),
        document: new ApiDocument({ version: options.version }),
        modules: [
          ownRoutes({ health, clock, components, facts: { ...config, version: options.version } }),
          ...(fleet?.routes === undefined ? [] : [fleet.routes]),
          ...(clusters?.routes === undefined ? [] : [clusters.routes]),
        ],
        ...(tls === undefined ? {} : { tls }),
      })
    : undefined;
  await using scope = new TaskScope(signal);

  onProgress("opening the listeners");
  const addresses: Addresses = {
    ...(await listening(rest, "rest", "the REST API", "--port", config)),
    ...(await listening(metricsServer, "metrics", "metrics", "--metrics-port", {
      address: config.metricsAddress,
      port: config.metricsPort,
    })),
    ...(kubernetes === undefined
      ? {}
      : { kubernetes: kubernetes.url, kubeconfig: kubeconfigOf(config) }),
    database: databaseUrl,
  };
  if (kubernetes !== undefined) scope.spawn("Kubernetes API", () => kubernetes.api.join());
  if (fleet !== undefined) scope.spawn("fleet", (signal) => fleet.run(signal));
  if (clusters !== undefined) scope.spawn("clusters", (signal) => clusters.run(signal));
  if (operator !== undefined) scope.spawn("operator", (signal) => operator.run(signal));
  scope.spawn("health", (signal) => health.keepAsking(signal));
  if (rest !== undefined) scope.spawn("credentials", (signal) => rest.keepFresh(signal));
  scope.spawn("wait", (signal) => aborted(signal));

  await health.ask();
  await using _runFile = await writeRunFile(dataDir.path, {
    ...addresses,
    startedAt: new Date(clock.now()).toISOString(),
    version: options.version,
  });
  options.onReady(addresses);
  signal.addEventListener("abort", () => health.stop(), { once: true });
  await scope.join();
  // Undone from the bottom: `run.json` first, so that nobody comes; the loops; REST, which lets requests in
  // flight end; metrics; the Kubernetes API with its watches; the store; the pool; PostgreSQL; the claim on the folder.
}

/** The schemas that must be there before anything is served. Services add theirs. */
const migrations: readonly MigrationSet[] = [
  sharedMigrations,
  ...clustersMigrations,
  fleetMigrations,
];

async function embeddedPostgres(
  { config, clock, random, log, onProgress }: ServeOptions,
  dataDir: string,
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

async function tlsFiles(config: Config): Promise<TlsFiles | undefined> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile, authGatewayClientCa: clientCaFile } = config;
  if (certFile === undefined || keyFile === undefined) return undefined;
  return TlsFiles.read({ certFile, keyFile, clientCaFile });
}

async function listening<const Name extends "rest" | "metrics">(
  server: RestServer | undefined,
  name: Name,
  what: string,
  flag: string,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<{ [N in Name]?: string }> {
  if (server === undefined) return {};
  try {
    const url = await server.listen({ address, port });
    return { [name]: url } as { [N in Name]?: string };
  } catch (error) {
    throw listenFailure(error, { what, flag, address, port });
  }
}

/** Lines about what requests do in the database. Loops are silent: they would drown the rest. */
function statementLog(log: Log, trace: RequestTrace): NonNullable<DatabaseOptions["onRun"]> {
  return (run, signal) => {
    const asked = trace.fieldsOf(signal);
    if (asked !== undefined) log.debug({ ...asked, ...run }, "statement run");
  };
}

function databaseCheck(database: Parameters<typeof isMigrated>[0]): Check {
  return {
    name: "database",
    run: async (signal) => {
      if (!(await isMigrated(database, migrations, signal))) {
        throw new Error("the schema of the database is behind");
      }
    },
  };
}

function storeCheck(store: Store | undefined): readonly Check[] {
  return store === undefined ? [] : [{ name: "store", run: (signal) => store.ping(signal) }];
}

/** What the database is to callers: here or not here. Its own words stay in the log. */
function databaseTrouble(error: unknown): RestError | undefined {
  return error instanceof DatabaseError && error.isTransient
    ? new RestError("DATABASE_UNAVAILABLE", "the database is not available", { cause: error })
    : undefined;
}

/** Ends when `signal` aborts: a process without loops runs too. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
