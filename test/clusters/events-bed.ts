// The events of cluster lifecycle on a real database, for the length of a test.

import { silentLog, systemRandom, type Log, type Metrics, type TaskScope } from "@keelson/base";
import {
  LifecycleEvents,
  localTransport,
  type LifecycleEventsOptions,
  type LifecycleTransport,
} from "@keelson/clusters";
import { createClustersDatabase, type ClustersDatabase } from "@keelson/clusters/testing";
import { statement, Wakeups, type Database } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

export const never = new AbortController().signal;

/** How long a test that can be of any length goes on: `KEELSON_TEST_SECONDS`; its least in the gate. */
export const lengthMs = Number(process.env["KEELSON_TEST_SECONDS"] ?? 0) * 1_000;

export async function freshDatabase(
  options: { readonly metrics?: Metrics } = {},
): Promise<ClustersDatabase> {
  return createClustersDatabase(await sharedThrowawayPostgres("embedded"), options);
}

/** Short waits, so that faults are over soon. */
export const quickRelay = {
  leaseMs: 4_000,
  publishTimeoutMs: 2_000,
  retryMs: { initial: 20, max: 200 },
} satisfies LifecycleEventsOptions["relay"];

export function eventsOn(
  database: Database,
  options: {
    readonly transport?: LifecycleTransport;
    readonly relay?: LifecycleEventsOptions["relay"];
    readonly log?: Log;
  } = {},
): { readonly events: LifecycleEvents; readonly run: (scope: TaskScope) => void } {
  const wakeups = new Wakeups({ database });
  const events = new LifecycleEvents({
    database,
    wakeups,
    transport: options.transport ?? localTransport,
    random: systemRandom,
    log: options.log ?? silentLog,
    pollMs: 100,
    ...(options.relay === undefined ? {} : { relay: options.relay }),
  });
  return {
    events,
    run: (scope) => {
      scope.spawn("wakeups", (signal) => wakeups.run(signal));
      scope.spawn("events", (signal) => events.run(signal));
    },
  };
}

export interface Told {
  readonly clusterId: string;
  readonly type?: string;
  readonly generation?: number;
  readonly reason?: string;
  readonly platform?: string;
  readonly nodepoolId?: string;
}

/** An event as the service writes one, to be run within whatever transaction. */
export const tell = statement<Told>("tell", (sql, told) => {
  const { clusterId, type = "cluster.updated", generation = 1, reason = "spec_change" } = told;
  const { platform = "gcp", nodepoolId = null } = told;
  return sql`
      WITH d AS (
        SELECT event_data(gen_random_uuid(), ${type}, ${clusterId}::uuid, ${nodepoolId}::uuid, ${generation}::bigint,
                          ${platform}, ${reason}, 'alice@example.com', NULL, NULL) AS data
      )
      INSERT INTO outbox_unnumbered (event_id, topic, ordering_key, data, attributes, published_at)
      SELECT (data ->> 'id')::uuid, topic_of(${type}), coalesce(${nodepoolId}, ${clusterId}), data,
             event_attributes(data), CASE WHEN topic_of(${type}) IS NULL THEN now() END
      FROM d`;
});

/** Nothing waits to be numbered or published. */
export async function drained(tables: ClustersDatabase): Promise<boolean> {
  const [row] = await tables.query<{ rows: number }>(
    `SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)::integer
          + (SELECT count(*) FROM outbox_unnumbered)::integer AS rows`,
  );
  return row?.rows === 0;
}
