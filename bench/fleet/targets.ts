// Many clusters, some of them dead: what that costs the others.

import { Client, fixedCredentials } from "@keelson/client";
import { kubeconfigOf } from "../../test/tools/kubeconfig.ts";
import { Latencies, median } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { mapOf, specOf, startBed, type Bed } from "./bed.ts";
import {
  startHangingHost,
  startHost,
  startRefusingHost,
  type MortalHost,
} from "./cluster-hosts.ts";
import { atPace, newStamp, timedPut } from "./put.ts";
import { Sightings } from "./sightings.ts";

interface Target {
  readonly ids: readonly number[];
  /** Of those that stay. */
  readonly sightings: Sightings | undefined;
}

const clustersPerHost = 10;
/** What failed while its cluster was dead must not wait for minutes once it is back. */
const environment = { KEELSON_FLEET_BACKOFF_MAX: "2s" };

/**
 * PUTs come to all clusters at a steady pace, in turns while all are there and while a fifth is dead: half of these
 * hang, half refuse. Measured are the clusters that are always there.
 */
export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const count = numberOf(run, "targets", run.isQuick ? 10 : 50);
  const each = numberOf(run, "resources", run.isQuick ? 50 : 1_000);
  const rounds = numberOf(run, "rounds", run.isQuick ? 1 : 3);
  const seconds = numberOf(run, "seconds", run.isQuick ? 8 : 40);
  const perSecond = numberOf(run, "rate", run.isQuick ? 25 : 50);
  await using setup = new AsyncDisposableStack();
  const bed = setup.use(await startBed(run, environment));
  const mortals: MortalHost[] = [
    setup.use(await startHangingHost(Math.ceil(count / 10))),
    setup.use(await startRefusingHost(Math.floor(count / 10))),
  ];
  const mortalUrls = mortals.flatMap(({ urls }) => urls);
  const urls: string[] = [];
  while (urls.length < count - mortalUrls.length) {
    const missing = count - mortalUrls.length - urls.length;
    urls.push(...setup.use(await startHost(Math.min(clustersPerHost, missing))).urls);
  }
  run.say(`${each} resources on each of ${count} targets`);
  const beganMs = performance.now();
  const targets: Target[] = [];
  for (const [index, url] of [...urls, ...mortalUrls].entries()) {
    const stays = index < urls.length;
    targets.push(await fill(bed, { clusterId: `c${index}`, url, each, stays, setup }, signal));
  }
  await bed.synced(count * each);
  const filledS = (performance.now() - beganMs) / 1000;

  const measure = async (): Promise<Latencies> => {
    const endMs = performance.now() + seconds * 1000;
    const latencies = new Latencies();
    const put = async (index: number): Promise<void> => {
      const target = targets[index % targets.length];
      // Each in turn: of two changes of one that come together the cluster may only see the second.
      const id = target?.ids[Math.floor(index / targets.length) % each] ?? 0;
      if (target?.sightings === undefined) {
        await bed.ask("PUT", `/resources/${id}`, specOf(newStamp()));
      } else latencies.add(await timedPut(bed, id, target.sightings));
    };
    await atPace({ perSecond, isOver: () => performance.now() >= endMs }, put, signal);
    return latencies;
  };
  run.say("warming up");
  await measure();
  const alive: Latencies[] = [];
  const beside: Latencies[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    run.say(`round ${round} of ${rounds}: all are there`);
    alive.push(await measure());
    run.say(`round ${round} of ${rounds}: ${mortalUrls.length} are dead`);
    for (const host of mortals) host.die();
    beside.push(await measure());
    for (const host of mortals) host.revive();
    await bed.synced(count * each);
  }
  const row = (share: number): Parameters<typeof judged>[0] => {
    const [value, baseline] = [beside, alive].map((all) => all.map((one) => one.percentile(share)));
    const ratios = (value ?? []).map((ms, index) => ms / (baseline?.[index] ?? Number.NaN));
    return {
      name: `PUT → object changed, ${mortalUrls.length} of ${count} targets dead, p${share * 100}`,
      value: median(value ?? []),
      unit: "ms",
      baseline: median(baseline ?? []),
      ratio: median(ratios),
    };
  };
  return [
    judged({ name: `${each} on each of ${count} targets: all in sync`, value: filledS, unit: "s" }),
    judged(row(0.5)),
    judged(row(0.99), { ratioAtMost: 1.1 }),
    ...bed.memoryRows(`with ${each} on each of ${count} targets`),
  ];
}

async function fill(
  bed: Bed,
  target: {
    readonly clusterId: string;
    readonly url: string;
    readonly each: number;
    readonly stays: boolean;
    readonly setup: AsyncDisposableStack;
  },
  signal: AbortSignal,
): Promise<Target> {
  const { clusterId, url, each, stays, setup } = target;
  const kubeconfig = kubeconfigOf({ server: url });
  await bed.ask("POST", "/targets", { cluster_id: clusterId, kubeconfig });
  const bodies = Array.from({ length: each }, (_, index) => mapOf(clusterId, `map-${index}`));
  const ids = await bed.createAll(bodies);
  if (!stays) return { ids, sightings: undefined };
  const access = { server: url, credentials: fixedCredentials({}) };
  const client = setup.use(new Client({ access, rateLimit: "none" }));
  return { ids, sightings: setup.use(await Sightings.in(client, "default", signal)) };
}
