// Fleet as the configuration wants it: its API, its worker, and the targets that this process knows of.

import { hostname } from "node:os";
import { pid } from "node:process";
import {
  RestError,
  TaskScope,
  type Clock,
  type Log,
  type Metrics,
  type Random,
} from "@keelson/base";
import { BadKubeconfig, loadKubeconfig, type Access, type KubeconfigSource } from "@keelson/client";
import { openDatabase, Wakeups, type DatabaseOptions } from "@keelson/database";
import {
  CredentialCipher,
  DryRuns,
  EventLog,
  FleetGauges,
  fleetRoutes,
  FleetWorker,
  GlobalDryRuns,
  Globals,
  keepHouse,
  Resources,
  SecretMarkers,
  TargetClients,
  TargetDryRuns,
  Targets,
  WorkBell,
  workerMetrics,
  type FleetRoutesOptions,
  type WorkerLimits,
} from "@keelson/fleet";
import { loadBuiltinKinds } from "@keelson/kube";
import type { Config } from "./config.ts";
import type { RouteModule } from "./rest/route-module.ts";
import { StartError } from "./start-error.ts";

export interface StartFleetOptions {
  readonly config: Config;
  readonly parts: { readonly rest: boolean; readonly worker: boolean };
  /** The pool of the services, whose settings fleet's own pools share. */
  readonly database: DatabaseOptions;
  readonly keys: readonly [Uint8Array, ...Uint8Array[]];
  /** The Kubernetes API of this process, as the cluster `local`. */
  readonly local: Access | undefined;
  /** Who answers `GET /events` with a topic. */
  readonly topicEvents?: FleetRoutesOptions["topicEvents"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Fleet extends AsyncDisposable {
  /** For the REST server; there if fleet's API is wanted. */
  readonly routes: RouteModule | undefined;
  /** Everything that runs beside, until `signal`; then what is under way is finished and recorded. */
  run(signal: AbortSignal): Promise<void>;
}

/** The cluster that the server of this process is. */
const localCluster = "local";

/** Opens fleet on a database that is migrated, and registers the targets. Throws a `StartError` for what a user can act on. */
export async function startFleet(options: StartFleetOptions, signal: AbortSignal): Promise<Fleet> {
  const { config, parts, keys, clock, random, metrics } = options;
  const log = options.log.child({ part: "fleet" });
  const shared = { clock, random, log, metrics };
  await using undo = new AsyncDisposableStack();
  const open = (name: string) =>
    undo.use(openDatabase({ ...options.database, name, searchPath: ["fleet", "public"] }));
  const database = open("fleet");
  const wakeups = new Wakeups({ database, random, log });
  const stopped = new AbortController();
  undo.defer(() => stopped.abort());
  const bell = new WorkBell({ wakeups, log, signal: stopped.signal });
  const cipher = new CredentialCipher(keys, random);
  const targets = new Targets({ database, cipher, bell, clock, log });
  const own = await registerOwn(options, targets, signal);
  const events = new EventLog({ database, wakeups, random, log });
  const { proxies, fleetCallTimeout: callTimeoutMs } = config;
  const clients = undo.use(
    new TargetClients({ ...shared, database, cipher, own, proxies, callTimeoutMs }),
  );
  const kinds = await loadBuiltinKinds();
  const writing = { database, kinds, markers: new SecretMarkers(keys), bell, log };
  const trying = { ...writing, clients, callTimeoutMs };
  const routes = parts.rest
    ? fleetRoutes({
        resources: new Resources({ ...writing, random }),
        dryRuns: new DryRuns(trying),
        globals: new Globals(writing),
        globalDryRuns: new GlobalDryRuns(trying),
        targets,
        targetDryRuns: new TargetDryRuns({ ...trying, cipher, clock }),
        events,
        ...(options.topicEvents === undefined ? {} : { topicEvents: options.topicEvents }),
        bodyBytesMax: config.bodyLimit,
        batchBytesMax: config.batchBodyLimit,
        clock,
        log,
        metrics,
      })
    : undefined;
  // A pool of its own: however busy the worker is, the API does not wait for it.
  const working = parts.worker ? open("fleet worker") : undefined;
  const gauges = new FleetGauges({ database, clock, log, metrics });
  const owned = undo.move();
  return {
    routes,
    run: async (within) => {
      await using scope = new TaskScope(within);
      scope.spawn("wake-ups", (inner) => wakeups.run(inner));
      scope.spawn("events", (inner) => events.run(inner));
      scope.spawn("gauges", (inner) => gauges.run(inner));
      if (working !== undefined) {
        const owner = `${hostname()} ${pid} ${random.uuid()}`;
        const limits = {
          auditMs: config.fleetAuditInterval,
          historyMax: config.fleetHistoryLimit,
          eventRetentionMs: config.fleetEventRetention,
        };
        const house = {
          ...shared,
          database: working,
          wakeups,
          bell,
          events,
          cipher,
          owner,
          limits,
        };
        scope.spawn("housekeeping", (inner) => keepHouse(house, inner));
        const worker = new FleetWorker({
          ...shared,
          database: working,
          wakeups,
          bell,
          clients,
          isOwn: (clusterId) => own.has(clusterId),
          onlyCluster: config.clusterId,
          owner,
          limits: limitsOf(config),
          metrics: workerMetrics(metrics),
        });
        scope.spawn("worker", (inner) => worker.run(inner));
      }
      await scope.join();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function limitsOf(config: Config): WorkerLimits {
  return {
    inFlightMax: config.fleetMaxInFlight,
    leaseMs: config.fleetLease,
    pollMs: config.fleetPollInterval,
    // Behind a pooler that breaks notifications the poll is all there is.
    deafPollMs: Math.min(config.fleetPollInterval, 1_000),
    staleMs: config.fleetStaleAfter,
    callTimeoutMs: config.fleetCallTimeout,
    backoffMs: { min: config.fleetBackoffMin, max: config.fleetBackoffMax },
  };
}

/** Registers what this process knows of, and gives the way to those that no credential leads to. */
async function registerOwn(
  { config, local, clock }: StartFleetOptions,
  targets: Targets,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Access>> {
  const own = new Map<string, Access>();
  if (local !== undefined) {
    own.set(localCluster, local);
    const { server } = local;
    await targets.register({ clusterId: localCluster, inProcess: true, server }, signal);
  }
  const { clusterId } = config;
  if (clusterId !== undefined) {
    const access = await accessOfCluster(config, clock);
    own.set(clusterId, access);
    const isOurs = await targets.register(
      { clusterId, agent: true, server: access.server },
      signal,
    );
    if (!isOurs) {
      throw new StartError(
        "USAGE",
        `target ${clusterId} is registered with a kubeconfig, so other workers serve it: PUT {"agent": true} to /api/v1/targets/${clusterId} first`,
      );
    }
  }
  for (const { kubeconfig, context, ...target } of config.targets) {
    const source = "file" in kubeconfig ? { files: [kubeconfig.file] } : { text: kubeconfig.text };
    const access = { source, context, trust: "anything" } as const;
    try {
      await targets.register({ ...target, access }, signal);
    } catch (error) {
      if (!(error instanceof RestError) || error.code !== "VALIDATION_FAILED") throw error;
      throw new StartError(
        "USAGE",
        `target ${target.clusterId} of ${config.configFile ?? "the configuration"} cannot be used: ${error.message}`,
        { cause: error },
      );
    }
  }
  return own;
}

/** The cluster that this worker runs in: by `--kubeconfig`, else as a Pod finds it. */
async function accessOfCluster({ kubeconfig, proxies }: Config, clock: Clock): Promise<Access> {
  const source: KubeconfigSource =
    kubeconfig === undefined ? { inCluster: true } : { files: [kubeconfig] };
  try {
    return await loadKubeconfig(source, { clock, proxies });
  } catch (error) {
    if (!(error instanceof BadKubeconfig)) throw error;
    throw new StartError(
      "USAGE",
      `the cluster of --cluster-id cannot be found: ${error.message}: run in a Pod of it, or give its kubeconfig with --kubeconfig (KEELSON_KUBECONFIG)`,
      { cause: error },
    );
  }
}
