// Cluster lifecycle behind a listening REST server that believes everybody, on a real database, for the length of a test.

import { noMetrics, silentLog, systemClock, systemRandom, TaskScope } from "@keelson/base";
import {
  buildClusterLifecycle,
  clustersRoutes,
  runStatusPass,
  type LifecycleTransport,
} from "@keelson/clusters";
import type { ClustersDatabase } from "@keelson/clusters/testing";
import { believingAuthenticator, buildRest } from "@keelson/keelson";
import { eventsOn, freshDatabase, never, tell, type Told } from "./events-bed.ts";
import { topicsModule } from "./topics-module.ts";

export interface LifecycleServer extends AsyncDisposable {
  readonly tables: ClustersDatabase;
  readonly url: string;
  tell(...all: readonly Told[]): Promise<void>;
  /** A cluster of alice's, without events of its own. */
  cluster(): Promise<string>;
}

/** Whoever says nothing, or `ctl@system.local`, is a controller. */
export async function startLifecycleServer({
  heartbeatMs = 15_000,
  transport,
}: {
  readonly heartbeatMs?: number;
  readonly transport?: LifecycleTransport;
} = {}): Promise<LifecycleServer> {
  await using setup = new AsyncDisposableStack();
  const tables = setup.use(await freshDatabase());
  const { database } = tables;
  const { events, run } = eventsOn(database, transport === undefined ? {} : { transport });
  const scope = setup.use(new TaskScope(never));
  run(scope);
  const shared = { clock: systemClock, random: systemRandom, log: silentLog, metrics: noMetrics };
  const service = buildClusterLifecycle({
    ...shared,
    database,
    outbox: events.outbox,
    rules: { graceMs: 1_800_000, recentMs: 300_000, fatalFails: true },
    defaults: { clusterVersion: undefined, channelGroup: undefined },
    controllerEmail: "ctl@system.local",
    controllerIdentities: {},
    wakesDependents: true,
  });
  scope.spawn("status pass", (signal) =>
    runStatusPass({ service, clock: systemClock, tickMs: 500 }, signal),
  );
  const clusters = clustersRoutes(service, { events, clock: systemClock, heartbeatMs });
  const rest = setup.use(
    await buildRest({
      ...shared,
      authenticator: believingAuthenticator(),
      corsOrigins: undefined,
      logsRequests: false,
      limits: { readMs: 30_000, writeMs: 30_000, idleMs: 30_000, drainMs: 2_000 },
      translate: () => undefined,
      modules: [clusters, topicsModule(clusters)],
    }),
  );
  const url = await rest.listen({ address: "127.0.0.1", port: 0 });
  const kept = setup.move();
  return {
    tables,
    url: `${url}/api/v1`,
    tell: (...all) =>
      database.transaction(async (sql) => {
        for (const one of all) await sql.run(tell, one);
      }, never),
    cluster: async () => {
      const [row] = await tables.query<{ id: string }>(
        `INSERT INTO clusters (name, created_by) VALUES (gen_random_uuid()::text, 'alice@example.com') RETURNING id`,
      );
      return row?.id ?? "";
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
