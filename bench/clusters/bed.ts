// `keelson up` as a user runs it, for the length of a benchmark: its API over HTTP, its tables, its metrics.

import { join } from "node:path";
import { openDatabase, statement, type Database } from "@keelson/database";
import { KeelsonProcess, temporaryFolder } from "../../test/e2e/keelson-process.ts";
import { samplesAt } from "../../test/apiserver/scenarios/metrics.ts";
import type { Row } from "../report.ts";
import { memoryRows } from "../resident.ts";
import type { Run } from "../suite.ts";

export interface Bed extends AsyncDisposable {
  readonly pid: number;
  /** Where the API is, without its prefix. */
  readonly url: string;
  /** The tables, for what the API does not do so quickly. */
  readonly database: Database;
  /** How many reads found a status that was dirty, as the server counts them. */
  staleReads(): Promise<number>;
  memoryRows(when: string): readonly Row[];
}

export const owner = "alice@example.com";

/** What a user declares, as long as specs are. */
export const spec = {
  platform: { type: "gcp", gcp: { projectID: "project-7", region: "europe-west1" } },
  infraID: "prod-7",
  release: { version: "4.20.1", channelGroup: "stable" },
  networking: {
    clusterNetwork: [{ cidr: "10.128.0.0/14", hostPrefix: 23 }],
    serviceNetwork: [{ cidr: "172.30.0.0/16" }],
    networkType: "OVNKubernetes",
  },
  dns: { baseDomain: "example.com" },
};

export async function startBed(run: Run): Promise<Bed> {
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await temporaryFolder());
  const flags = ["--kube-port", "0", "--log-level", "error"];
  const keelson = new KeelsonProcess(join(folder.path, "data"), { flags });
  setup.defer(async () => void (await keelson.stop()));
  const { rest = "", metrics = "", database: url = "" } = await keelson.ready(run.signal);
  const database = setup.use(
    openDatabase({ url, name: "bench", searchPath: ["lifecycle", "public"], deadlineMs: 600_000 }),
  );
  const kept = setup.move();
  return {
    pid: keelson.pid,
    url: rest,
    database,
    staleReads: async () => {
      const reads = await samplesAt(metrics, run.signal);
      return reads
        .filter(({ name }) => name === "keelson_clusters_status_reads_total")
        .filter(({ labels }) => labels["result"] === "stale")
        .reduce((sum, { value }) => sum + value, 0);
    },
    memoryRows: (when) => memoryRows(keelson.pid, when),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

export interface Stable {
  readonly count: number;
  /** What their names begin with. */
  readonly prefix: string;
}

/** Clusters of alice's that are old, Ready, clean and not due for minutes; gives their ids. */
export async function insertStable(
  database: Database,
  { count, prefix }: Stable,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const rows = await database.run(insertClusters, { count, prefix }, signal);
  await database.run(insertReports, prefix, signal);
  await database.run(makeClean, prefix, signal);
  await database.run(makeCalm, prefix, signal);
  for (const table of [vacuumClusters, vacuumSchedule, vacuumReports]) {
    await database.run(table, undefined, signal);
  }
  return rows.map(({ id }) => id);
}

const insertClusters = statement<Stable, { readonly id: string }>(
  "insertClusters",
  (sql, { count, prefix }) => sql`
    INSERT INTO clusters (name, created_by, spec, created_at)
    SELECT ${prefix} || n, ${owner}, ${JSON.stringify(spec)}::text::jsonb,
           now() - interval '3 h' - n * interval '1 ms'
    FROM generate_series(1, ${count}::integer) n RETURNING id`,
);

const insertReports = statement<string>(
  "insertReports",
  (sql, prefix) => sql`
    INSERT INTO controller_status (cluster_id, controller_name, conditions, metadata)
    SELECT id, controller, '[{"type":"Available","status":"True","reason":"Ready","message":""}]',
           '{"image": "registry.example.com/release:4.20.1"}'
    FROM clusters CROSS JOIN unnest(ARRAY['version-resolution', 'dns', 'network']) controller
    WHERE starts_with(name, ${prefix})`,
);

const makeClean = statement<string>(
  "makeClean",
  (sql, prefix) => sql`
    UPDATE clusters SET status_dirty = false, status = ${JSON.stringify(readyStatus)}::text::jsonb
    WHERE starts_with(name, ${prefix})`,
);

const makeCalm = statement<string>(
  "makeCalm",
  (sql, prefix) => sql`
    UPDATE reconciliation_schedule SET attention = false, last_reconciled_at = now(),
      next_reconcile_at = now() + interval '1 h'
    WHERE cluster_id IN (SELECT id FROM clusters WHERE starts_with(name, ${prefix}))`,
);

const vacuumClusters = statement<undefined>("vacuum", (sql) => sql`VACUUM ANALYZE clusters`);
const vacuumSchedule = statement<undefined>(
  "vacuum",
  (sql) => sql`VACUUM ANALYZE reconciliation_schedule`,
);
const vacuumReports = statement<undefined>(
  "vacuum",
  (sql) => sql`VACUUM ANALYZE controller_status`,
);

const readyStatus = {
  observedGeneration: 1,
  phase: "Ready",
  reason: "AllControllersReady",
  message: "3/3 controllers ready",
  conditions: ["Ready", "Available"].map((type) => ({
    type,
    status: "True",
    reason: `AllControllers${type}`,
    message: "3/3 controllers ready",
    lastTransitionTime: "2026-01-01T00:00:00.000Z",
  })),
  lastUpdateTime: "2026-01-01T00:00:00.000Z",
};
