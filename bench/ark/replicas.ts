// Ark kinds behind a cluster: three replicas of ours on one PostgreSQL, beside the same kinds as CRDs in the cluster itself.

import type { JsonObject } from "@keelson/base";
import { startThrowawayPostgres } from "@keelson/database/testing";

import { establishDefinitions } from "../../test/aggregated/definitions.ts";
import { startBed, startHost } from "../../test/aggregated/bed.ts";
import { pathOf } from "../../test/aggregated/objects.ts";
import { failuresOf, LoadGenerator, type LoadResult } from "../../test/apiserver/loadgen.ts";
import type { KeyPair } from "../../test/tools/certificates.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { CoreMeter } from "../cores.ts";
import { meanOf, stagesOf } from "./stages.ts";

const path = pathOf("memories", "default");
const rate = 200;
const watchersEach = 50;

/** An object that tells when it was written. */
const template: JsonObject = {
  apiVersion: "ark.mckinsey.com/v1alpha1",
  kind: "Memory",
  metadata: { name: "{name}", labels: { load: "load" }, annotations: { stamp: "{stamp}" } },
  spec: { address: { value: "http://memory.example.com" } },
};

/** Etcd syncs before it acknowledges, as PostgreSQL does. */
const fair = { flags: { etcd: ["--unsafe-no-fsync=false"] } };

export async function bench(run: Run): Promise<readonly Row[]> {
  const beside = await asDefinitions(run);
  const ours = await behind(run);
  return [
    judged({ name: "CRDs: write → event, p50", value: beside.watch.p50, unit: "ms" }),
    judged({ name: "CRDs: write → event, p99", value: beside.watch.p99, unit: "ms" }),
    judged({ name: "CRDs: list of all", value: beside.list.p50, unit: "ms" }),
    judged(
      { name: "ours, three replicas: write → event, p50", value: ours.watch.p50, unit: "ms" },
      { atMost: 20 },
    ),
    judged(
      { name: "ours, three replicas: write → event, p99", value: ours.watch.p99, unit: "ms" },
      { atMost: 100 },
    ),
    judged({ name: "ours, three replicas: writes", value: ours.watch.rate, unit: "/s" }),
    judged(
      { name: "ours, three replicas: events lost", value: lost(ours.watch), unit: "" },
      { atMost: 0 },
    ),
    judged({ name: "ours: list of all", value: ours.list.p50, unit: "ms" }),
    ...ours.profile,
  ];
}

interface Measured {
  readonly watch: LoadResult;
  readonly list: LoadResult;
}

async function asDefinitions(run: Run): Promise<Measured> {
  const { signal } = run;
  await using oracle = await startHost(fair, signal);
  await establishDefinitions(oracle, signal);
  run.say("the kinds as CRDs");
  return await measure(run, oracle, [oracle.url, oracle.url, oracle.url]);
}

async function behind(run: Run): Promise<Measured & { readonly profile: readonly Row[] }> {
  const { signal } = run;
  await using postgres = await startThrowawayPostgres({ flavour: "embedded", fsync: true }, signal);
  await using database = await postgres.createDatabase();
  const options = { driver: "postgresql", databaseUrl: database.url, oracle: fair } as const;
  await using bed = await startBed(options, signal);
  await using undo = new AsyncDisposableStack();
  const replicas = [bed.replica];
  for (let index = 1; index < 3; index += 1) {
    const replica = undo.use(await bed.newReplica(options));
    await replica.start(signal);
    replicas.push(replica);
  }
  run.say("three replicas of ours behind a cluster");
  const { url, ca } = bed.replica;
  const { admin } = bed.oracle;
  const watchUrls = replicas.map((replica) => replica.url);
  const names = new Map(replicas.map(({ pid = 0 }, index) => [pid, `replica ${index + 1}`]));
  const readStages = async () =>
    await Promise.all(replicas.map(({ metricsUrl }) => stagesOf(metricsUrl, signal)));
  const before = await readStages();
  using meter = new CoreMeter(names);
  const profile: Row[] = [];
  const measured = await measure(run, { url, ca, admin }, watchUrls, async () => {
    const after = await readStages();
    for (const [index, stages] of before.entries()) {
      const both = { before: stages, after: after[index] ?? stages };
      const row = (name: string, value: number, unit: string): void =>
        void profile.push(judged({ name: `of this, replica ${index + 1}: ${name}`, value, unit }));
      if (index === 0) {
        row("commit, mean", meanOf("keelson_store_commit_seconds", both) * 1_000, "ms");
        row("writes a commit", meanOf("keelson_store_batch_size", both), "");
      }
      const delivery = meanOf("keelson_watch_delivery_seconds", both) * 1_000;
      row("commit → socket, mean", delivery, "ms");
    }
    for (const [name, { had, waitedFor }] of meter.read()) {
      if (had < 0.005) continue;
      profile.push(judged({ name: `cores that ${name} had`, value: had, unit: "" }));
      profile.push(judged({ name: `cores that ${name} waited for`, value: waitedFor, unit: "" }));
    }
  });
  return { ...measured, profile };
}

async function measure(
  run: Run,
  server: { readonly url: string; readonly ca: string; readonly admin: KeyPair },
  watchUrls: readonly string[],
  watched: () => Promise<void> = () => Promise.resolve(),
): Promise<Measured> {
  const { signal } = run;
  const seconds = numberOf(run, "seconds", run.isQuick ? 3 : 20);
  const objects = numberOf(run, "objects", run.isQuick ? 500 : 10_000);
  using load = new LoadGenerator(server);
  const must = async (options: Parameters<LoadGenerator["run"]>[0]): Promise<LoadResult> => {
    const result = await load.run({ path, ...options }, signal);
    if (failuresOf(result) > 0) {
      throw new Error(`requests failed: ${JSON.stringify(result.errors)} ${result.sample ?? ""}`);
    }
    return result;
  };
  run.say(`${rate} writes a second for ${seconds} s, ${watchersEach} watchers at each of three`);
  const watch = await must({
    verb: "watch",
    rate,
    watchers: watchersEach,
    seconds,
    watchUrls,
    template,
    patch: true,
  });
  await watched();
  run.say(`lists of ${objects}`);
  await must({ verb: "fill", objects, clients: 16, prefix: "listed-", template });
  const list = await must({ verb: "list", clients: 1, seconds });
  return { watch, list };
}

function lost({ expected, seen }: LoadResult): number {
  return expected - seen;
}
