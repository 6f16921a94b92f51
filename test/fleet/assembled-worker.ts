// A worker of fleet with all that it is made of, as a process has it; with limits for tests.

import {
  noMetrics,
  silentLog,
  systemClock,
  systemRandom,
  type Log,
  type Metrics,
  type TaskScope,
} from "@keelson/base";
import type { Access } from "@keelson/client";
import { Wakeups, type Database } from "@keelson/database";
import {
  CredentialCipher,
  FleetWorker,
  TargetClients,
  WorkBell,
  workerMetrics,
  type WorkerLimits,
} from "@keelson/fleet";

/** What opens the credentials that tests register. */
export const testCipher = new CredentialCipher([Buffer.alloc(32, 9)], systemRandom);

export interface AssembledOptions {
  readonly database: Database;
  /** Clusters that it reaches without a credential. */
  readonly own: ReadonlyMap<string, Access>;
  readonly owner: string;
  readonly limits?: Partial<WorkerLimits>;
  /** How long a call may take of which the worker does not say it; ten seconds unless told. */
  readonly callTimeoutMs?: number;
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Until then it rings for others. */
  readonly signal: AbortSignal;
}

/** Disposing of it closes its clients; its loops end with their scope, before that. */
export interface AssembledWorker extends AsyncDisposable {
  /** Starts its loops. One that is deaf hears no wake-ups. */
  run(scope: TaskScope, options?: { readonly isDeaf?: boolean }): void;
}

export function assembleWorker({
  database,
  own,
  owner,
  limits = {},
  callTimeoutMs = 10_000,
  log = silentLog,
  metrics = noMetrics,
  signal,
}: AssembledOptions): AssembledWorker {
  const shared = { database, clock: systemClock, random: systemRandom };
  const wakeups = new Wakeups({ database });
  const clients = new TargetClients({
    ...shared,
    cipher: testCipher,
    own,
    proxies: {},
    callTimeoutMs,
    metrics: noMetrics,
  });
  const worker = new FleetWorker({
    ...shared,
    wakeups,
    bell: new WorkBell({ wakeups, log, signal }),
    clients,
    isOwn: (clusterId) => own.has(clusterId),
    onlyCluster: undefined,
    owner,
    limits: {
      leaseMs: 30_000,
      pollMs: 30_000,
      deafPollMs: 100,
      staleMs: 60_000,
      inFlightMax: 8,
      callTimeoutMs,
      backoffMs: { min: 50, max: 500 },
      ...limits,
    },
    log,
    metrics: workerMetrics(metrics),
  });
  return {
    run: (scope, { isDeaf = false } = {}) => {
      if (!isDeaf) scope.spawn("wake-ups", (within) => wakeups.run(within));
      scope.spawn("worker", (within) => worker.run(within));
    },
    [Symbol.asyncDispose]: () => clients[Symbol.asyncDispose](),
  };
}
