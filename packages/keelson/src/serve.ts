// The composition root: what everything stands on is started here, and undone in the reverse order.

import type { Clock, Log, Random } from "@keelson/base";
import type { DatabaseOptions } from "@keelson/database";
import type { Config } from "./config.ts";
import { claimDataDir } from "./data-dir.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import { openDoor } from "./rest-door.ts";
import { RequestTrace } from "./rest/request-signal.ts";
import type { Addresses } from "./run-file.ts";
import { startDatabase } from "./start-database.ts";
import { Starting } from "./starting.ts";

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

/** Builds every part, runs until `signal` aborts or a part fails, and undoes everything. */
export async function serve(options: ServeOptions, signal: AbortSignal): Promise<void> {
  const { config, parts, clock, random, log, metrics } = options;
  const shared = { config, clock, random, log, metrics };
  const trace = new RequestTrace();
  // What can be wrong with files of others is told before anything is begun.
  if (parts.has("store")) await refuseWrongKubernetesFiles(config, log);
  const door = parts.has("rest") ? await openDoor(config, { clock, log }) : undefined;

  await using claimed = await claimDataDir({ path: config.dataDir, clock, random }, signal);
  const { path: dataDir } = claimed;
  const underWay = Promise.withResolvers<void>();
  const onProgress = (step: string): void => {
    options.onProgress(step);
    underWay.resolve();
  };
  const onRun = config.logLevel === "debug" ? statementLog(log, trace) : undefined;
  await using startingDatabase = new Starting(
    (within) => startDatabase({ ...shared, dataDir, onRun, onProgress }, within),
    signal,
  );
  // What follows is loaded and started while PostgreSQL starts, which is the longest wait.
  await Promise.race([underWay.promise, startingDatabase.ready]);
  await using startingCluster = parts.has("store")
    ? new Starting(async (within) => {
        const { startOwnCluster } = await import("./start-own-cluster.ts");
        const databaseUrl = async () => (await startingDatabase.ready).pool.url;
        return startOwnCluster({ ...shared, databaseUrl }, within);
      }, signal)
    : undefined;
  const [{ serveServices }, database, cluster] = await Promise.all([
    import("./serve-services.ts"),
    startingDatabase.ready,
    startingCluster?.ready,
  ]);
  await serveServices(options, { dataDir, database, cluster, door, trace }, signal);
  // Then the Kubernetes API with its watches, and the store; the pool; PostgreSQL; the claim on the folder.
}

/** Only where one was named: what stands in our own folder is looked at when it is written, and nothing is loaded early for it. */
async function refuseWrongKubernetesFiles(config: Config, log: Log): Promise<void> {
  const { kubeconfig, clientCaFile: clientAuthorityFile, tokenAuthFile: tokenFile } = config;
  if ([kubeconfig, clientAuthorityFile, tokenFile].every((one) => one === undefined)) return;
  const { refuseForeignKubeconfig, refuseWrongFiles } = await import("@keelson/apiserver");
  if (kubeconfig !== undefined) await refuseForeignKubeconfig(kubeconfig);
  await refuseWrongFiles({ servingFiles: undefined, clientAuthorityFile, tokenFile, log });
}

/** Lines about what requests do in the database. Loops are silent: they would drown the rest. */
function statementLog(log: Log, trace: RequestTrace): NonNullable<DatabaseOptions["onRun"]> {
  return (run, signal) => {
    const asked = trace.fieldsOf(signal);
    if (asked !== undefined) log.debug({ ...asked, ...run }, "statement run");
  };
}
