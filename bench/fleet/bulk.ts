// Many new resources at once: one batch, one embedded cluster.

import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { mapOf, startBed } from "./bed.ts";
import { newStamp } from "./put.ts";
import { Sightings } from "./sightings.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const count = numberOf(run, "resources", run.isQuick ? 1_000 : 10_000);
  await using bed = await startBed(run);
  await using sightings = await Sightings.in(bed.client, "default", signal);
  const stamps = Array.from({ length: count }, newStamp);
  const seen = Promise.all(stamps.map((stamp) => sightings.of(stamp)));
  run.say(`${count} resources in one batch`);
  const sentMs = performance.now();
  const bodies = stamps.map((stamp, index) => mapOf("local", `new-${index}`, { stamp }));
  const answered = bed.createAll(bodies).then(() => performance.now());
  const [moments, answeredMs] = await Promise.all([seen, answered]);
  const deliveredS = (Math.max(...moments) - sentMs) / 1000;
  await bed.synced(count);
  const syncedS = (performance.now() - sentMs) / 1000;
  const what = `${count.toLocaleString("en-US")} new resources`;
  return [
    judged({ name: `${what}: batch answered`, value: (answeredMs - sentMs) / 1000, unit: "s" }),
    // The goal is for ten thousand: fewer have their share of the time.
    judged(
      { name: `${what}: delivered`, value: deliveredS, unit: "s" },
      { atMost: (60 * count) / 10_000 },
    ),
    judged({ name: `${what}: delivered each second`, value: count / deliveredS, unit: "/s" }),
    judged({ name: `${what}: all in sync`, value: syncedS, unit: "s" }),
    ...bed.memoryRows(`with ${count.toLocaleString("en-US")} resources`),
  ];
}
