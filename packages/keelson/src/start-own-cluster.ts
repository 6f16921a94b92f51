// The cluster that a process brings itself: the object store, and the Kubernetes API on it.

import type { Clock, Log, Random } from "@keelson/base";
import { fixedCredentials, type Access } from "@keelson/client";
import type { Store } from "@keelson/store";
import { AuditLog } from "./audit-log.ts";
import type { Config } from "./config.ts";
import { kubeconfigOf } from "./kubeconfig-path.ts";
import { openStore, type OpenStoreOptions } from "./open-store.ts";
import type { PrometheusMetrics } from "./prometheus.ts";
import { startKubernetes } from "./start-kubernetes.ts";
import { startPatienceMs } from "./while-away.ts";

export interface StartOwnClusterOptions extends Pick<OpenStoreOptions, "databaseUrl"> {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: PrometheusMetrics;
}

export interface OwnCluster extends AsyncDisposable {
  readonly store: Store;
  readonly url: string;
  /** Where its kubeconfig is. */
  readonly kubeconfig: string;
  /** The way in for another part of this process. */
  accessFor(part: string): Access;
  /** Resolves never, or rejects with what no loop of it could survive. */
  join(): Promise<void>;
}

/** Throws a `StartError` for what a user can act on. */
export async function startOwnCluster(
  options: StartOwnClusterOptions,
  signal: AbortSignal,
): Promise<OwnCluster> {
  const { config, databaseUrl, ...shared } = options;
  await using undo = new AsyncDisposableStack();
  const { autoMigrate: migrates } = config;
  const stored = { config, databaseUrl, migrates, patienceMs: startPatienceMs };
  const store = undo.use(await openStore({ ...shared, ...stored }, signal));
  const auditLog = await AuditLog.openIfWanted(config.auditLogPath, shared);
  if (auditLog !== undefined) undo.use(auditLog);
  const server = undo.use(
    await startKubernetes({ ...shared, config, store, servingFiles: undefined, auditLog }, signal),
  );
  const owned = undo.move();
  return {
    store,
    url: server.url,
    kubeconfig: kubeconfigOf(config),
    accessFor: (part) => {
      const { server: url, ...identity } = server.accessFor(part);
      return { server: url, isInProcess: true, credentials: fixedCredentials(identity) };
    },
    join: () => server.join(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
