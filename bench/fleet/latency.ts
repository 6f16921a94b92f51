// How long a change takes: a user's into the cluster, with nothing else to do and beside many others; and the cluster's
// into the record.

import { systemClock } from "@keelson/base";
import { statement } from "@keelson/database";
import { Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { mapOf, specOf, startBed, type Bed } from "./bed.ts";
import { atPace, newStamp, timedPut } from "./put.ts";
import { Sightings } from "./sightings.ts";

const probe = { name: "probe", namespace: "default" };
const pauseMs = 20;

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const samples = numberOf(run, "samples", run.isQuick ? 40 : 500);
  await using bed = await startBed(run);
  const atRest = bed.memoryRows("at rest");
  await using sightings = await Sightings.in(bed.client, "default", signal);
  const [id = 0] = await bed.createAll([mapOf("local", probe.name)]);
  await bed.synced(1);
  for (let warm = 0; warm < 20; warm += 1) await timedPut(bed, id, sightings);

  run.say(`${samples} PUTs, one after the other`);
  const direct = new Latencies();
  const idle = new Latencies();
  const other = await bed.client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
  const metadata = { name: "direct", namespace: "default" };
  await other.create({ apiVersion: "v1", kind: "ConfigMap", metadata }, {}, signal);
  for (let made = 0; made < samples; made += 1) {
    direct.add(await timedPatch(other, metadata, sightings, signal));
    await systemClock.sleep(pauseMs, signal);
    idle.add(await timedPut(bed, id, sightings));
    await systemClock.sleep(pauseMs, signal);
  }

  const busy = await besideOthers(run, bed, { id, sightings, samples });
  const drift = await timedDrifts(run, bed, samples);
  const both = (name: string, measured: Latencies, baseline?: Latencies): readonly Row[] =>
    (
      [
        [0.5, 50],
        [0.99, 500],
      ] as const
    ).map(([share, atMost]) =>
      judged(
        {
          name: `${name}, p${share * 100}`,
          value: measured.percentile(share),
          unit: "ms",
          ...(baseline === undefined ? {} : { baseline: baseline.percentile(share) }),
        },
        { atMost },
      ),
    );
  return [
    ...both("PUT → object changed, idle", idle, direct),
    ...both(`PUT → object changed, beside ${busy.perSecond} PUTs/s`, busy.latencies),
    judged(
      { name: "the other PUTs", value: busy.rate, unit: "/s" },
      { atLeast: busy.perSecond * 0.95 },
    ),
    judged({
      name: "cluster change → drift recorded, p50",
      value: drift.percentile(0.5),
      unit: "ms",
    }),
    judged(
      { name: "cluster change → drift recorded, p99", value: drift.percentile(0.99), unit: "ms" },
      { atMost: 1_000 },
    ),
    ...atRest,
    ...bed.memoryRows("after PUTs and drifts"),
  ];
}

type Maps = Awaited<ReturnType<Bed["client"]["resource"]>>;

/** The machine's own: the same change, by a PATCH of the cluster itself. */
async function timedPatch(
  maps: Maps,
  ref: { readonly name: string; readonly namespace: string },
  sightings: Sightings,
  signal: AbortSignal,
): Promise<number> {
  const stamp = newStamp();
  const seen = sightings.of(stamp);
  const sentMs = performance.now();
  const [seenMs] = await Promise.all([
    seen,
    maps.patch(ref, { type: "merge", body: { data: { stamp } }, options: {} }, signal),
  ]);
  return seenMs - sentMs;
}

/** The same while others change theirs, in a namespace of their own. */
async function besideOthers(
  run: Run,
  bed: Bed,
  measured: { readonly id: number; readonly sightings: Sightings; readonly samples: number },
): Promise<{ readonly latencies: Latencies; readonly rate: number; readonly perSecond: number }> {
  const { signal } = run;
  const { id, sightings, samples } = measured;
  const perSecond = numberOf(run, "rate", 200);
  const count = run.isQuick ? 200 : 1_000;
  const namespaces = await bed.client.resource({ apiVersion: "v1", kind: "Namespace" }, signal);
  const load = { apiVersion: "v1", kind: "Namespace", metadata: { name: "load" } };
  await namespaces.create(load, {}, signal);
  const ids = await bed.createAll(
    Array.from({ length: count }, (_, index) =>
      mapOf("local", `other-${index}`, { namespace: "load" }),
    ),
  );
  await bed.synced(count + 1);
  run.say(`${samples} PUTs beside ${perSecond} others a second`);
  const latencies = new Latencies();
  let isOver = false;
  const [rate] = await Promise.all([
    atPace(
      { perSecond, isOver: () => isOver },
      (index) => bed.ask("PUT", `/resources/${ids[index % count]}`, specOf(newStamp())),
      signal,
    ),
    (async () => {
      try {
        // Each connection plans what it has not run before, triggers and all: at first a PUT takes twice as much.
        const warmMs =
          performance.now() + numberOf(run, "warm-up-ms", run.isQuick ? 2_000 : 15_000);
        while (performance.now() < warmMs) await timedPut(bed, id, sightings);
        for (let made = 0; made < samples; made += 1) {
          latencies.add(await timedPut(bed, id, sightings));
          await systemClock.sleep(pauseMs, signal);
        }
      } finally {
        isOver = true;
      }
    })(),
  ]);
  await bed.synced(count + 1);
  return { latencies, rate, perSecond };
}

const isDrifted = statement<number, { readonly drifted: boolean }>(
  "isDrifted",
  (sql, id) => sql`SELECT drifted FROM resource_current_states WHERE resource_id = ${id}`,
);

/** How often the table is asked: no closer can it be told. */
const lookEveryMs = 2;

/** From sending somebody else's change of the object to the row that says so. It is reported, not healed. */
async function timedDrifts(run: Run, bed: Bed, samples: number): Promise<Latencies> {
  const { signal } = run;
  run.say(`${samples} drifts`);
  const [id = 0] = await bed.createAll([
    { ...mapOf("local", "drifting", { stamp: "ours" }), drift_policy: "report" },
  ]);
  const maps = await bed.client.resource({ apiVersion: "v1", kind: "ConfigMap" }, signal);
  const ref = { name: "drifting", namespace: "default" };
  const change = (stamp: string) =>
    maps.patch(ref, { type: "merge", body: { data: { stamp } }, options: {} }, signal);
  const becomes = async (drifted: boolean): Promise<void> => {
    for (;;) {
      const [row] = await bed.database.run(isDrifted, id, signal);
      if (row?.drifted === drifted) return;
      await systemClock.sleep(lookEveryMs, signal);
    }
  };
  await becomes(false);
  const latencies = new Latencies();
  for (let made = 0; made < samples; made += 1) {
    const sentMs = performance.now();
    await Promise.all([change("theirs"), becomes(true)]);
    latencies.add(performance.now() - sentMs);
    await change("ours");
    await becomes(false);
  }
  return latencies;
}
