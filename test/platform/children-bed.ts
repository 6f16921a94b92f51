// Children in a cluster, read and written as the operator does.

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { Client } from "@keelson/client";
import { Caches, controllerMetrics } from "@keelson/controller";
import { Children } from "@keelson/platform";
import { startCluster, type ClusterOptions } from "../tools/test-cluster.ts";

export interface ChildrenBed extends AsyncDisposable {
  readonly client: Client;
  readonly caches: Caches;
  readonly children: Children;
}

export async function prepareChildren(
  signal: AbortSignal,
  options: ClusterOptions = { simulatesWorkloads: false },
): Promise<ChildrenBed> {
  await using setup = new AsyncDisposableStack();
  const cluster = setup.use(await startCluster(options, signal));
  const client = setup.use(new Client({ access: cluster.accessAt(cluster.port) }));
  const metrics = controllerMetrics(noMetrics);
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, metrics };
  const caches = setup.use(new Caches({ client, ...parts }, signal));
  const children = new Children({ client, caches });
  const kept = setup.move();
  return { client, caches, children, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
