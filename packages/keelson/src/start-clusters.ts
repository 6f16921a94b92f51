// Cluster lifecycle as the configuration wants it: its API, the way of its events, and the loops of the scheduler.

import { TaskScope, type Clock, type Log, type Metrics, type Random } from "@keelson/base";
import {
  buildClusterLifecycle,
  clustersRoutes,
  DatabaseTime,
  LifecycleEvents,
  localTransport,
  passOnce,
  PubsubTransport,
  runDeferredWakes,
  runPurges,
  runStatusBell,
  runStatusPass,
  Scheduler,
  schedulerMetrics,
  type TransportHealth,
} from "@keelson/clusters";
import { openDatabase, Wakeups, type DatabaseOptions } from "@keelson/database";
import type { Config } from "./config.ts";
import { StartError } from "./start-error.ts";

export interface StartClustersOptions {
  readonly config: Config;
  readonly parts: { readonly rest: boolean; readonly scheduler: boolean };
  /** The pool of the services, whose settings this one shares. */
  readonly database: DatabaseOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Clusters extends AsyncDisposable {
  /** For the REST server; there if the API is wanted. */
  readonly routes: ReturnType<typeof clustersRoutes> | undefined;
  /** How events leave, and whether they do. */
  readonly transport: TransportHealth;
  /** Everything that runs beside, until `signal`. */
  run(signal: AbortSignal): Promise<void>;
}

/** Opens cluster lifecycle on a database that is migrated. */
export async function startClusters(
  options: StartClustersOptions,
  signal: AbortSignal,
): Promise<Clusters> {
  const { config, parts, clock, random, metrics } = options;
  const log = options.log.child({ part: "clusters" });
  const shared = { clock, random, log };
  await using undo = new AsyncDisposableStack();
  const database = undo.use(
    openDatabase({ ...options.database, name: "clusters", searchPath: ["lifecycle", "public"] }),
  );
  const wakeups = new Wakeups({ database, random, log });
  const transport =
    config.eventTransport === "local" ? localTransport : undo.use(pubsub(config, shared));
  const pollMs = config.outboxPollInterval;
  const events = new LifecycleEvents({ ...shared, database, wakeups, transport, pollMs });
  const { outbox } = events;
  const time = new DatabaseTime({ database, clock });
  await time.measure(signal);
  const service = buildClusterLifecycle({
    ...shared,
    database,
    outbox,
    metrics,
    clock: { ...clock, now: () => time.now() },
    rules: {
      graceMs: config.statusGracePeriod,
      recentMs: config.statusRecentWindow,
      fatalFails: config.statusFatalFails,
    },
    defaults: {
      clusterVersion: config.defaultClusterVersion,
      channelGroup: config.defaultChannelGroup,
    },
    controllerEmail: config.controllerEmail,
    controllerIdentities: config.controllerIdentities ?? {},
    wakesDependents: config.reactiveReconciliationEnabled,
    wakesPerMinuteMax: config.reactiveReconciliationMaxEventsPerMinute,
  });
  const tickMs = config.reconciliationCheckInterval;
  const counted = schedulerMetrics(metrics);
  const scheduler = new Scheduler({
    ...shared,
    database,
    outbox,
    time,
    metrics: counted,
    tickMs,
    cadence: {
      unhealthyMs: config.reconciliationUnhealthyInterval,
      healthyMs: config.reconciliationHealthyInterval,
      newMs: config.reconciliationNewWindow,
      decayAfter: config.reconciliationDecayAfter,
    },
    refreshStatuses: (inner) => passOnce(service, inner),
  });
  const retentions = {
    outboxMs: config.outboxRetention,
    auditMs: config.auditRetention,
    tombstonesMs: config.tombstoneRetention,
  };
  const owned = undo.move();
  return {
    routes: parts.rest ? clustersRoutes(service, { events, clock }) : undefined,
    get transport() {
      return events.health;
    },
    run: async (within) => {
      await using scope = new TaskScope(within);
      scope.spawn("wake-ups", (inner) => wakeups.run(inner));
      scope.spawn("events", (inner) => events.run(inner));
      scope.spawn("status bell", (inner) => runStatusBell({ service, clock }, inner));
      scope.spawn("denials", (inner) => service.denials.run(inner));
      scope.spawn("time", (inner) => time.keep({ log }, inner));
      if (parts.scheduler) {
        scope.spawn("statuses", (inner) => runStatusPass({ service, clock, tickMs }, inner));
        scope.spawn("deferred wakes", (inner) =>
          runDeferredWakes({ ...shared, database, outbox }, inner),
        );
        scope.spawn("purges", (inner) =>
          runPurges({ ...shared, database, outbox, metrics: counted, retentions }, inner),
        );
        if (config.reconciliationEnabled) {
          scope.spawn("scheduler", (inner) => scheduler.run(inner));
        }
      }
      await scope.join();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function pubsub(
  config: Config,
  shared: { readonly clock: Clock; readonly random: Random; readonly log: Log },
): PubsubTransport {
  const { googleCloudProject: projectId } = config;
  if (projectId === undefined) {
    throw new StartError("USAGE", "events go to Pub/Sub, and no Google Cloud project is given");
  }
  return new PubsubTransport({
    ...shared,
    projectId,
    emulatorHost: config.pubsubEmulatorHost,
    topics: {
      "cluster-events": config.pubsubClusterEventsTopic,
      "nodepool-events": config.pubsubNodepoolEventsTopic,
    },
  });
}
