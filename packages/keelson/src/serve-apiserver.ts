// The composition root of `keelson apiserver`: a store, the Kubernetes API on it, alone or behind a host cluster, metrics.

import { refuseForeignKubeconfig, refuseWrongFiles } from "@keelson/apiserver";
import { TaskScope, type Clock, type Log, type Random } from "@keelson/base";
import { AuditLog } from "./audit-log.ts";
import type { Config } from "./config.ts";
import { claimDataDir } from "./data-dir.ts";
import { Health, type Check } from "./health.ts";
import { openHost } from "./host/open-host.ts";
import { joinPart } from "./join-part.ts";
import { kubeconfigOf } from "./kubeconfig-path.ts";
import { openStore } from "./open-store.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import { writeRunFile, type Addresses } from "./run-file.ts";
import { startAggregated } from "./start-aggregated.ts";
import { startMetrics } from "./start-metrics.ts";
import { startKubernetes } from "./start-kubernetes.ts";
import { startPatienceMs } from "./while-away.ts";

export interface ServeApiserverOptions {
  readonly config: Config;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
  /** Called once it answers. */
  readonly onReady: (addresses: Addresses) => void;
}

/** Runs until `signal` aborts or a part fails, and undoes everything. */
export async function serveApiserver(
  options: ServeApiserverOptions,
  signal: AbortSignal,
): Promise<void> {
  const { config, clock, random, log, metrics } = options;
  const shared = { clock, random, log, metrics };
  const { tlsCertFile: certificate, tlsKeyFile: key } = config;
  const servingFiles =
    certificate === undefined || key === undefined ? undefined : { certificate, key };
  const { clientCaFile: clientAuthorityFile, tokenAuthFile: tokenFile } = config;
  // What can be wrong with files of others is told before anything is begun.
  await refuseWrongFiles({ servingFiles, clientAuthorityFile, tokenFile, log });
  if (!config.aggregated) await refuseForeignKubeconfig(kubeconfigOf(config));
  await using dataDir = await claimDataDir({ path: config.dataDir, clock, random }, signal);
  // The server runs no DDL on a PostgreSQL that others may use: `keelson apiserver migrate` does.
  const databaseUrl = () => config.databaseUrl ?? "";
  const stored = { config, databaseUrl, migrates: false, patienceMs: startPatienceMs };
  await using store = await openStore({ ...shared, ...stored }, signal);
  await using auditLog = await AuditLog.openIfWanted(config.auditLogPath, shared);
  const parts = { ...shared, config, store, servingFiles, auditLog };
  await using opened = config.aggregated
    ? await openHost({ ...shared, config, log: log.child({ part: "host" }) }, signal)
    : undefined;
  await using kubernetes =
    opened === undefined
      ? await startKubernetes(parts, signal)
      : await startAggregated({ ...parts, opened }, signal);
  const checks: Check[] = [{ name: "store", run: (within) => store.ping(within) }];
  if (opened !== undefined) checks.push({ name: "host", run: () => opened.host.ping() });
  const health = new Health({ checks, clock, log, metrics });
  await using listener = await startMetrics({ ...shared, config, health });
  await using scope = new TaskScope(signal);
  const addresses: Addresses = {
    kubernetes: kubernetes.url,
    ...(opened === undefined ? { kubeconfig: kubeconfigOf(config) } : {}),
    ...(listener.url === undefined ? {} : { metrics: listener.url }),
  };
  const stopping = signal;
  scope.spawn("Kubernetes API", (signal) => joinPart(kubernetes, { signal, stopping }));
  if (opened !== undefined) scope.spawn("host", (within) => opened.host.run(within));
  scope.spawn("health", (within) => health.keepAsking(within));
  await health.ask();
  await using _runFile = await writeRunFile(dataDir.path, {
    ...addresses,
    startedAt: new Date(clock.now()).toISOString(),
    version: options.version,
  });
  options.onReady(addresses);
  signal.addEventListener("abort", () => health.stop(), { once: true });
  await scope.join();
}
