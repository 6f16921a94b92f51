// Apps with databases: many at once from apply to Running, one at a time from apply to all of its children, a restart
// that finds everything as it should be, and what is asked of the cluster when nothing happens.

import { systemClock } from "@keelson/base";
import type { Client } from "@keelson/client";
import { temporaryFolder } from "../../test/e2e/keelson-process.ts";
import { until } from "../../test/tools/until.ts";
import { Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { memoryRows } from "../resident.ts";
import { numberOf, type Run } from "../suite.ts";
import {
  apiVersion,
  databaseApp,
  isOfChildren,
  isWrite,
  phases,
  startBed,
  type Bed,
} from "./bed.ts";
import { ChildSightings } from "./child-sightings.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const apps = numberOf(run, "apps", run.isQuick ? 10 : 100);
  const samples = numberOf(run, "samples", run.isQuick ? 5 : 50);
  const idleMs = numberOf(run, "idle-ms", run.isQuick ? 10_000 : 120_000);
  await using folder = await temporaryFolder();
  const rows: Row[] = [];
  let rowsBefore = 0;
  {
    await using bed = await startBed(folder.path, run);
    run.say(`${apps} apps from apply to Running`);
    const seconds = await timedApps(bed, apps, signal);
    rows.push(
      judged(
        { name: `${apps} apps, apply → all Running`, value: seconds, unit: "s" },
        { atMost: 60 },
      ),
    );
    run.say(`${samples} apps, one after the other`);
    const children = await timedChildren(bed, samples, signal);
    rows.push(
      judged(
        { name: "apply → all children, p50", value: children.percentile(0.5), unit: "ms" },
        { atMost: 500 },
      ),
      judged({ name: "apply → all children, p99", value: children.percentile(0.99), unit: "ms" }),
      ...memoryRows(bed.pid, `with ${apps + samples} apps`),
    );
    await running(bed.client, apps + samples, signal);
    rowsBefore = await settled(() => bed.rowsWritten(), signal);
  }

  run.say("a restart with nothing changed");
  await using bed = await startBed(folder.path, run);
  const startedMs = performance.now();
  await until(async () => (await bed.appsLookedAt()) >= apps + samples, signal);
  rows.push(
    judged({
      name: `restart → ${apps + samples} apps looked at`,
      value: (performance.now() - startedMs) / 1000,
      unit: "s",
    }),
  );
  const afterRestart = await bed.asked();
  const writes = Map.groupBy(
    afterRestart.filter(isWrite),
    ({ verb, resource }) => `${verb} ${resource}`,
  );
  for (const [what, { length }] of writes) run.say(`${what}: ${length}`);
  const written = (await settled(() => bed.rowsWritten(), signal)) - rowsBefore;
  rows.push(
    judged(
      {
        name: "restart: children written",
        value: afterRestart.filter((one) => isWrite(one) && isOfChildren(one)).length,
        unit: "",
      },
      { atMost: 0 },
    ),
    judged(
      {
        name: "restart: statuses written",
        value: afterRestart.filter((one) => isWrite(one) && one.resource.endsWith("/status"))
          .length,
        unit: "",
      },
      { atMost: 0 },
    ),
    judged(
      { name: "restart: rows written in PostgreSQL", value: written, unit: "" },
      { atMost: 0 },
    ),
  );

  run.say(`${idleMs / 1000} s of nothing`);
  const before = (await bed.asked()).length;
  await systemClock.sleep(idleMs, signal);
  const idle = (await bed.asked())
    .slice(before)
    .filter(({ verb, resource }) => verb !== "watch" && resource !== "leases");
  rows.push(
    judged(
      {
        name: `idle for ${idleMs / 1000} s: requests but watches and the Lease`,
        value: idle.length,
        unit: "",
      },
      { atMost: 0 },
    ),
  );
  return rows;
}

/** From the first apply to the last that is Running, in seconds. */
async function timedApps({ client }: Bed, count: number, signal: AbortSignal): Promise<number> {
  const applications = await client.resource({ apiVersion, kind: "Application" }, signal);
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      applications.apply(databaseApp(`many-${index}`), { fieldManager: "bench" }, signal),
    ),
  );
  await running(client, count, signal);
  return (performance.now() - startedMs) / 1000;
}

async function running(client: Client, count: number, signal: AbortSignal): Promise<void> {
  await until(
    async () => ((await phases(client, "Application", signal)).get("Running") ?? 0) >= count,
    signal,
  );
}

/** From sending an apply to having been told of the last child, by watches. */
async function timedChildren(
  { client }: Bed,
  count: number,
  signal: AbortSignal,
): Promise<Latencies> {
  const applications = await client.resource({ apiVersion, kind: "Application" }, signal);
  const latencies = new Latencies();
  await using sightings = await ChildSightings.open(client, signal);
  for (let made = 0; made < count; made += 1) {
    const name = `one-${made}`;
    const seen = sightings.of(name);
    const sentMs = performance.now();
    const [seenMs] = await Promise.all([
      seen,
      applications.apply(databaseApp(name), { fieldManager: "bench" }, signal),
    ]);
    latencies.add(seenMs - sentMs);
    // The next begins when this one is over and done.
    await until(async () => {
      const { status } = await applications.get({ namespace: "default", name }, signal);
      return (status as { readonly phase?: string } | undefined)?.phase === "Running";
    }, signal);
  }
  return latencies;
}

/** Sessions of PostgreSQL write their counters down when they have been idle for ten seconds. */
async function settled(ask: () => Promise<number>, signal: AbortSignal): Promise<number> {
  await systemClock.sleep(12_000, signal);
  return await ask();
}
