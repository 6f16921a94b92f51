// The services on their database, and on the cluster of this process if there is one: each part is built here, in order, and
// undone in the reverse order.

import { RestError, TaskScope } from "@keelson/base";
import { DatabaseError } from "@keelson/database";
import { aborted } from "./aborted.ts";
import { encryptionKeys } from "./encryption-keys.ts";
import { Health, type Check } from "./health.ts";
import { joinPart } from "./join-part.ts";
import { buildMetricsServer } from "./metrics-server.ts";
import type { Door } from "./rest-door.ts";
import { ApiDocument } from "./rest/openapi.ts";
import { ownRoutes } from "./rest/own-routes.ts";
import type { RequestTrace } from "./rest/request-signal.ts";
import { buildRest, type RestServer } from "./rest/server.ts";
import { writeRunFile, type Addresses } from "./run-file.ts";
import type { ServeOptions } from "./serve.ts";
import { startClusters } from "./start-clusters.ts";
import type { StartedDatabase } from "./start-database.ts";
import { listenFailure } from "./start-failure.ts";
import { startFleet } from "./start-fleet.ts";
import { startOperator } from "./start-operator.ts";
import type { OwnCluster } from "./start-own-cluster.ts";

/** What services stand on; it belongs to the caller. */
export interface ServiceGround {
  readonly dataDir: string;
  readonly database: StartedDatabase;
  /** Left out: this process brings none. */
  readonly cluster: OwnCluster | undefined;
  /** Left out: this process serves no REST API. */
  readonly door: Door | undefined;
  /** Where statements find the request that they are run for. */
  readonly trace: RequestTrace;
}

/** The database of the platform's apps, beside our own in the embedded PostgreSQL. */
const appsDatabase = "plattr";

/** Builds the services, runs until `signal` aborts or a part fails, and undoes them. */
export async function serveServices(
  options: ServeOptions,
  { dataDir, database, cluster, door, trace }: ServiceGround,
  signal: AbortSignal,
): Promise<void> {
  const { config, parts, clock, random, log, metrics, onProgress } = options;
  const logsRequests = config.logLevel === "debug";
  const shared = { clock, random, log, metrics, logsRequests };
  const { pool } = database;
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
            keys: await encryptionKeys(config.encryptionKey, { dataDir, random }),
            local: cluster?.accessFor("fleet"),
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
            cluster === undefined
              ? undefined
              : {
                  access: cluster.accessFor("operator"),
                  databaseUrl: await database.databaseApart(appsDatabase, signal),
                },
        },
        signal,
      )
    : undefined;

  const checks: readonly Check[] = [
    { name: "database", run: (within) => database.check(within) },
    ...(cluster === undefined
      ? []
      : [{ name: "store", run: (within: AbortSignal) => cluster.store.ping(within) }]),
    ...(operator === undefined ? [] : [operator.check]),
  ];
  const health = new Health({ checks, clock, log, metrics });
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
  await using rest =
    door !== undefined
      ? await buildRest({
          ...shared,
          limits,
          authenticator: door.authenticator,
          corsOrigins: config.corsOrigins,
          translate: databaseTrouble,
          ...(logsRequests ? { trace } : {}),
          document: new ApiDocument({ version: options.version }),
          modules: [
            ownRoutes({
              health,
              clock,
              components,
              facts: { ...config, version: options.version },
            }),
            ...(fleet?.routes === undefined ? [] : [fleet.routes]),
            ...(clusters?.routes === undefined ? [] : [clusters.routes]),
          ],
          ...(door.tls === undefined ? {} : { tls: door.tls }),
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
    ...(cluster === undefined ? {} : { kubernetes: cluster.url, kubeconfig: cluster.kubeconfig }),
    database: pool.url,
  };
  if (cluster !== undefined) {
    const stopping = signal;
    scope.spawn("Kubernetes API", (signal) => joinPart(cluster, { signal, stopping }));
  }
  if (fleet !== undefined) scope.spawn("fleet", (signal) => fleet.run(signal));
  if (clusters !== undefined) scope.spawn("clusters", (signal) => clusters.run(signal));
  if (operator !== undefined) scope.spawn("operator", (signal) => operator.run(signal));
  scope.spawn("health", (signal) => health.keepAsking(signal));
  if (rest !== undefined) scope.spawn("credentials", (signal) => rest.keepFresh(signal));
  scope.spawn("wait", (signal) => aborted(signal));

  await health.ask();
  await using _runFile = await writeRunFile(dataDir, {
    ...addresses,
    startedAt: new Date(clock.now()).toISOString(),
    version: options.version,
  });
  options.onReady(addresses);
  signal.addEventListener("abort", () => health.stop(), { once: true });
  await scope.join();
  // Undone from the bottom: `run.json` first, so that nobody comes; the loops; REST, which lets requests in
  // flight end; metrics.
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

/** What the database is to callers: here or not here. Its own words stay in the log. */
function databaseTrouble(error: unknown): RestError | undefined {
  return error instanceof DatabaseError && error.isTransient
    ? new RestError("DATABASE_UNAVAILABLE", "the database is not available", { cause: error })
    : undefined;
}
