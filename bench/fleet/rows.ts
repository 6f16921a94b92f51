// What many rows cost that nobody touches: the poll, the first page of a list, the processor, the memory.

import { systemClock } from "@keelson/base";
import { statement } from "@keelson/database";
import { readServed } from "../../packages/fleet/src/sql/served-targets.ts";
import { claimWork } from "../../packages/fleet/src/sql/work.ts";
import { CoreMeter } from "../cores.ts";
import { Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { startBed, type Bed } from "./bed.ts";
import { scansIn } from "./query-plan.ts";

/** Served by a worker inside it, which is not here: nobody compares its rows with objects that were never made. */
const clusterId = "parked";

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const count = numberOf(run, "rows", run.isQuick ? 20_000 : 100_000);
  const samples = numberOf(run, "samples", run.isQuick ? 40 : 500);
  await using bed = await startBed(run);
  await bed.ask("POST", "/targets", { cluster_id: clusterId, agent: true });
  run.say(`writing ${count} rows that are in sync`);
  await fill(bed, count, signal);
  await bed.synced(count, clusterId);

  run.say("idle");
  const seconds = numberOf(run, "seconds", run.isQuick ? 16 : 60);
  const cores: Row[] = [];
  {
    using meter = new CoreMeter(new Map([[bed.pid, "keelson"]]));
    await systemClock.sleep(seconds * 1000, signal);
    for (const [name, { had }] of meter.read()) {
      if (!["keelson", "postgres"].includes(name)) continue;
      cores.push(judged({ name: `cores that ${name} had, idle`, value: had, unit: "" }));
    }
  }

  run.say(`${samples} polls, ${samples} first pages`);
  const polls = new Latencies();
  const pages = new Latencies();
  const claim = { clusterId, owner: "bench", leaseMs: 30_000, limit: 32 };
  for (let made = -10; made < samples; made += 1) {
    const beganMs = performance.now();
    await bed.database.run(readServed, { onlyCluster: null }, signal);
    const claims = await bed.database.run(claimWork, claim, signal);
    if (made >= 0) polls.add(performance.now() - beganMs); // Before: connections, plans, compiled code.
    if (claims.length > 0) throw new Error(`${claims.length} rows were due that should not be`);
  }
  // Not in turns with the polls: what a page of 500 leaves to be cleaned up would be theirs to wait for.
  for (let made = -10; made < samples; made += 1) {
    const beganMs = performance.now();
    const { total } = await bed.ask<{ total: number }>("GET", "/resources");
    if (made >= 0) pages.add(performance.now() - beganMs);
    if (total !== count) throw new Error(`the list counts ${total} rows, not ${count}`);
  }
  const scans = [
    ...(await scansIn(readServed, { onlyCluster: null }, bed.database)),
    ...(await scansIn(claimWork, claim, bed.database)),
  ].filter(({ table }) => table !== "targets");
  if (!scans.some(({ way }) => way === "idx_attempts_due")) {
    throw new Error("the poll's plans do not show how it reads the work queue");
  }
  // The newest of a cluster is asked for in the same question, and has an index for it.
  const indexes = ["idx_attempts_due", "idx_resources_newest"];
  const others = scans.filter(({ way }) => !indexes.includes(way));
  for (const { table, way } of others) run.say(`the poll reads ${table} by ${way}`);
  const rows = `${count.toLocaleString("en-US")} rows`;
  const unit = "ms";
  return [
    judged({ name: `idle poll, ${rows}, p50`, value: polls.percentile(0.5), unit }),
    judged({ name: `idle poll, ${rows}, p99`, value: polls.percentile(0.99), unit }, { atMost: 5 }),
    judged(
      { name: "reads of the poll by other than its indexes", value: others.length, unit: "" },
      { atMost: 0 },
    ),
    judged({ name: `first list page, ${rows}, p50`, value: pages.percentile(0.5), unit }),
    judged(
      { name: `first list page, ${rows}, p95`, value: pages.percentile(0.95), unit },
      { atMost: 50 },
    ),
    ...cores,
    ...bed.memoryRows(`with ${rows}`),
  ];
}

const insert = statement<{ readonly from: number; readonly to: number }>(
  "insert",
  (sql, { from, to }) => sql`
    WITH made AS (
      INSERT INTO resources (cluster_id, namespace, kind, name, api_version, desired_spec)
      SELECT ${clusterId}, 'default', 'ConfigMap', 'parked-' || n, 'v1',
             jsonb_build_object('data', jsonb_build_object('n', n::text, 'text', repeat('lorem ipsum ', 60)))
      FROM generate_series(${from}::integer, ${to}::integer) n
      RETURNING id, desired_spec, generation, revision
    ), applied AS (
      INSERT INTO resource_applied_states
        (resource_id, spec, generation, revision, status, uid, k8s_resource_version, applied_at)
      SELECT id, desired_spec, generation, revision, 'success', 'uid-' || id, '1', now() FROM made
    )
    INSERT INTO resource_current_states
      (resource_id, spec, generation, revision, uid, k8s_resource_version, observed_at)
    SELECT id, desired_spec, generation, revision, 'uid-' || id, '1', now() FROM made`,
);
const settle = statement<undefined>(
  "settle",
  (sql) => sql`UPDATE resource_attempts SET due_at = NULL WHERE cluster_id = ${clusterId}`,
);
/** As autovacuum leaves them some time after such a flood. */
const tidy = statement<undefined>("tidy", (sql) => sql`VACUUM (ANALYZE)`);

async function fill({ database }: Bed, count: number, signal: AbortSignal): Promise<void> {
  const step = 10_000;
  for (let from = 1; from <= count; from += step) {
    await database.run(insert, { from, to: Math.min(from + step - 1, count) }, signal);
  }
  await database.run(settle, undefined, signal);
  await database.run(tidy, undefined, signal);
}
