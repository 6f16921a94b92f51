// Twenty thousand clusters: pages of a list over HTTP, the scheduler's look for what is due, and all of them due at once.

import { noMetrics } from "@keelson/base";
import { schedulerMetrics } from "@keelson/clusters";
import { statement, type Database } from "@keelson/database";
import { schedulerOn } from "../../test/clusters/scheduler-bed.ts";
import { Latencies } from "../measure.ts";
import { judged, type Bound, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { insertStable, startBed, type Bed } from "./bed.ts";
import { Connection } from "./connection.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const count = numberOf(run, "clusters", run.isQuick ? 2_000 : 20_000);
  const samples = numberOf(run, "samples", run.isQuick ? 50 : 500);
  await using bed = await startBed(run);
  run.say(`${count} clusters`);
  await insertStable(bed.database, { count, prefix: "many-" }, run.signal);
  const rows: Row[] = [];
  for (const [what, query, bound] of [
    ["the first page", "limit=50", { atMost: 10 }],
    ["a page of 100", "limit=100", undefined],
    ["the last page", `limit=50&offset=${count - 50}`, undefined],
    ["those that are Ready", "limit=50&status=Ready", undefined],
    ["those of a platform", "limit=50&platform=gcp", undefined],
    ["one by its name", "name=many-77", undefined],
  ] as const) {
    run.say(what);
    const latencies = await lists(bed, query, samples);
    const name = `list among ${count} clusters, ${what}`;
    rows.push(...both(name, latencies, bound));
  }
  rows.push(...(await scheduling(run, bed, { count, samples })));
  return [...rows, ...bed.memoryRows(`with ${count} clusters`)];
}

async function lists({ url }: Bed, query: string, samples: number): Promise<Latencies> {
  using connection = await Connection.to(url);
  const latencies = new Latencies();
  for (let n = -20; n < samples; n += 1) {
    const sentMs = performance.now();
    await connection.ask({ method: "GET", path: `/clusters?${query}` });
    if (n >= 0) latencies.add(performance.now() - sentMs); // The first ones warm up.
  }
  return latencies;
}

/** By a scheduler of the benchmark's own on the tables of the server, whose own one finds nothing to do meanwhile. */
async function scheduling(
  run: Run,
  { database }: Bed,
  { count, samples }: { readonly count: number; readonly samples: number },
): Promise<readonly Row[]> {
  const { signal } = run;
  const tick = ticking(database, signal);
  run.say("nothing is due");
  const idle = new Latencies();
  for (let n = -20; n < samples; n += 1) {
    const startMs = performance.now();
    const announced = await tick();
    if (announced > 0) throw new Error(`${announced} were due`);
    if (n >= 0) idle.add(performance.now() - startMs);
  }
  run.say("all are due");
  await database.run(makeDue, undefined, signal);
  const startMs = performance.now();
  const announced = await tick();
  const tookS = (performance.now() - startMs) / 1000;
  // The server's own tick may come in between: what it announced, we did not.
  const label = `all of ${count} clusters due at once`;
  return [
    ...both(`due query, ${count} clusters, nothing due`, idle, { atMost: 5 }),
    judged({ name: `${label}: announced by one tick`, value: announced, unit: "" }),
    judged({ name: `${label}: that tick`, value: tookS, unit: "s" }, { atMost: 30 }),
    judged({ name: `${label}: announcements`, value: announced / tookS, unit: "/s" }),
  ];
}

/** Both kinds, clusters and nodepools, as each tick looks for them. */
function ticking(database: Database, signal: AbortSignal): () => Promise<number> {
  const scheduler = schedulerOn(database, { metrics: schedulerMetrics(noMetrics) });
  return () => scheduler.tick(signal);
}

const makeDue = statement<undefined>(
  "makeDue",
  (sql) => sql`UPDATE reconciliation_schedule SET next_reconcile_at = now()`,
);

function both(name: string, latencies: Latencies, bound: Bound | undefined): readonly Row[] {
  return [
    judged({ name: `${name}: p50`, value: latencies.percentile(0.5), unit: "ms" }, bound),
    judged({ name: `${name}: p99`, value: latencies.percentile(0.99), unit: "ms" }),
  ];
}
