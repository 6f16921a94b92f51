// How long after a report a controller that depends on it is at work: written with the SDK, over the stream of events.

import { systemClock } from "@keelson/base";
import { createController, ready, sse } from "@keelson/sdk";
import { Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { insertStable, startBed } from "./bed.ts";

/** Each is woken at most 60 times in a minute: so many that none is woken too often. */
const clusterCount = 200;
const pauseMs = 10;

export async function bench(run: Run): Promise<readonly Row[]> {
  const samples = numberOf(run, "samples", run.isQuick ? 60 : 1_000);
  await using bed = await startBed(run);
  const asked = { count: clusterCount, prefix: "woken-" };
  const ids = await insertStable(bed.database, asked, run.signal);
  const woken = new Map<string, (ms: number) => void>();
  await using controller = createController({
    name: "dns",
    kinds: ["cluster"],
    transport: sse(),
    api: { url: bed.url },
    dependsOn: [{ controller: "version-resolution", metadataKey: "image" }],
    reconcile: ({ reports }) => {
      const { image } = reports["version-resolution"]?.metadata ?? {};
      if (typeof image === "string") woken.get(image)?.(performance.now());
      return ready();
    },
  });
  await controller.start(run.signal);

  const latencies = new Latencies();
  for (let n = -20; n < samples; n += 1) {
    const image = `image-${n}`;
    const { promise: seen, resolve } = Promise.withResolvers<number>();
    woken.set(image, resolve);
    const sentMs = performance.now();
    const answer = await fetch(`${bed.url}/api/v1/clusters/${ids[(n + 20) % ids.length]}/status`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(reportOf(image)),
      signal: run.signal,
    });
    if (!answer.ok) throw new Error(await answer.text());
    const seenMs = await seen;
    woken.delete(image);
    if (n >= 0) latencies.add(seenMs - sentMs); // The first ones warm up.
    await systemClock.sleep(pauseMs, run.signal);
  }
  const name = "report → dependent controller at work";
  return [
    judged({ name: `${name}: p50`, value: latencies.percentile(0.5), unit: "ms" }, { atMost: 100 }),
    judged({ name: `${name}: p99`, value: latencies.percentile(0.99), unit: "ms" }),
    ...bed.memoryRows(`after ${samples} wakes`),
  ];
}

function reportOf(image: string): object {
  return {
    controller_name: "version-resolution",
    observed_generation: 1,
    conditions: [{ type: "Available", status: "True", reason: "Ready", message: "" }],
    metadata: { image },
  };
}
