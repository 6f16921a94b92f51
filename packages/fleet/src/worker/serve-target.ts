// Serves one target until told to stop: contact, delivery and watching, on one client.

import { isCancellation, RestError, TaskScope } from "@keelson/base";
import type { Client } from "@keelson/client";
import { markTarget } from "../sql/served-targets.ts";
import { workChannel } from "../work-bell.ts";
import { Delivery, type DeliveryLimits } from "./delivery.ts";
import type { FleetWorkerOptions } from "./fleet-worker.ts";
import { TargetContact } from "./target-contact.ts";
import { TargetLoop, type TargetLimits } from "./target-loop.ts";
import { watchTarget, type WatcherLimits } from "./watcher.ts";
import type { WorkSignal } from "./work-signal.ts";

export interface TargetLimitsOfWorker extends TargetLimits, DeliveryLimits, WatcherLimits {}

export interface ServeTargetOptions extends FleetWorkerOptions {
  readonly clusterId: string;
  /** A paused target is watched, and nothing is written to it. */
  readonly paused: boolean;
  /** Something may be due; something may be new. */
  readonly work: WorkSignal;
  readonly watch: WorkSignal;
}

/** Throws what makes it impossible: the loops themselves go on through whatever the cluster or the database does. */
export async function serveTarget(options: ServeTargetOptions, signal: AbortSignal): Promise<void> {
  const { clusterId, clients, paused, wakeups, work, watch } = options;
  let client: Client;
  try {
    client = await clients.clientOf(clusterId, signal);
  } catch (error) {
    await tellWhyNot(options, error, signal);
    throw error;
  }
  const onLeft = (): void => wakeups.wakeHere(workChannel);
  const onForWatcher = (): void => watch.wake();
  const contact = new TargetContact({ ...options, client, onRecovered: onLeft });
  work.wake(); // Whoever worked before us may have been called, and have failed.
  await using scope = new TaskScope(signal);
  scope.spawn(`contact with ${clusterId}`, (within) => contact.run(within));
  scope.spawn(`watch of ${clusterId}`, (within) =>
    watchTarget({ ...options, client, contact }, within),
  );
  if (!paused) {
    const delivery = new Delivery({ ...options, client });
    const calls = { onLeft, onForWatcher };
    const loop = new TargetLoop({ ...options, ...calls, delivery, contact, subscription: work });
    scope.spawn(`work of ${clusterId}`, (within) => loop.run(within));
  }
  await scope.join();
}

/** A credential that cannot be used is a trouble like any other, and is shown. */
async function tellWhyNot(
  { database, clusterId, owner }: ServeTargetOptions,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof RestError) || isCancellation(error, signal)) return;
  const { message } = error;
  await database.run(markTarget, { clusterId, owner, health: "Unreachable", message }, signal);
}
