// A million objects in one SQLite file.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Body, type Store } from "@keelson/store";
import { closedLoop, duel, Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { fill, keyOf, never, openPlace, openStore, scope, valueOf } from "./fixtures.ts";

const program = fileURLToPath(new URL("./programs/first-get.ts", import.meta.url));
const pageSize = 500;

export async function bench(run: Run): Promise<readonly Row[]> {
  const objects = numberOf(run, "objects", run.isQuick ? 20_000 : 1_000_000);
  const title = `sqlite ${objects.toLocaleString("en-US")} objects`;
  await using place = await openPlace("sqlite");
  const path = await place.prepare();
  const rows: Row[] = [];
  {
    await using store = (await openStore("sqlite", path, { compactionEveryMs: undefined })).store;
    run.say(`writing ${objects} objects`);
    const start = performance.now();
    await fill(store, { to: objects });
    const seconds = (performance.now() - start) / 1000;
    rows.push({ name: `${title}, filled`, value: objects / seconds, unit: "/s" });
    rows.push(...(await compaction(store, title, objects)));
  }
  {
    const start = performance.now();
    await using store = (await openStore("sqlite", path)).store;
    const openMs = performance.now() - start;
    rows.push(judged({ name: `${title}, open`, value: openMs, unit: "ms" }, { atMost: 3000 }));
    rows.push(...(await gets(store, title, objects)));
    rows.push(...(await pages(store, title, objects, { at: "now" })));
    rows.push(...(await pages(store, title, objects, { at: "before" })));
    rows.push(await writes(run, { store, empty: await place.open(), title, objects }));
  }
  rows.push(await startUp(run, { path, title, objects }));
  return rows;
}

/** The log of a million entries goes, while somebody writes. */
async function compaction(store: Store, title: string, objects: number): Promise<readonly Row[]> {
  const cut = { isRunning: true };
  const waits = new Latencies();
  const writing = (async () => {
    for (let n = objects; cut.isRunning; n += 1) {
      const before = performance.now();
      const { revision } = await store.create(keyOf(n), Body.of(valueOf(n, 1)), never);
      waits.add(performance.now() - before);
      await store.delete(keyOf(n), { expect: { revision } }, never);
    }
  })();
  const start = performance.now();
  await store.compact(await store.head(never), never);
  const elapsedMs = performance.now() - start;
  cut.isRunning = false;
  await writing;
  return [
    { name: `${title}, log cut`, value: (objects / elapsedMs) * 1000, unit: "entries/s" },
    judged(
      {
        name: `${title}, longest wait of a write meanwhile`,
        value: waits.percentile(1),
        unit: "ms",
      },
      { atMost: 100 },
    ),
  ];
}

/** Anywhere in the file: nearly all of them are in no cache of ours. */
async function gets(store: Store, title: string, objects: number): Promise<readonly Row[]> {
  const latencies = new Latencies();
  let n = 0;
  for (let i = 0; i < 20_000; i += 1) {
    n = (n + 618_033_989) % objects;
    const before = performance.now();
    await store.get(keyOf(n), never);
    latencies.add(performance.now() - before);
  }
  return [
    { name: `${title}, get p50`, value: latencies.percentile(0.5), unit: "ms" },
    judged(
      { name: `${title}, get p99`, value: latencies.percentile(0.99), unit: "ms" },
      { atMost: 1 },
    ),
  ];
}

/** Pages from anywhere; or the next pages of a list that began before 500 objects changed. */
async function pages(
  store: Store,
  title: string,
  objects: number,
  { at }: { readonly at: "now" | "before" },
): Promise<readonly Row[]> {
  const latencies = new Latencies();
  const revision = await store.head(never);
  if (at === "before") await touch(store, objects);
  let n = 0;
  for (let i = 0; i < 200; i += 1) {
    n = (n + 618_033_989) % objects;
    const { namespace, name } = keyOf(n);
    const position = { after: { namespace, name }, remaining: objects };
    const before = performance.now();
    const next = at === "now" ? position : { ...position, revision };
    const page = await store.list(scope, { limit: pageSize, continue: next }, never);
    latencies.add(performance.now() - before);
    if (page.items.length === 0) throw new Error(`no objects after ${namespace}/${name}`);
  }
  const what = `page of ${pageSize}${at === "now" ? "" : " of an earlier revision"}`;
  return [
    { name: `${title}, ${what}, p50`, value: latencies.percentile(0.5), unit: "ms" },
    judged(
      { name: `${title}, ${what}, p99`, value: latencies.percentile(0.99), unit: "ms" },
      { atMost: 20 },
    ),
  ];
}

async function touch(store: Store, objects: number): Promise<void> {
  for (let i = 0; i < 500; i += 1) {
    const n = (i * 618_033_989) % objects;
    const { revision } = await store.get(keyOf(n), never);
    await store.update(keyOf(n), { body: Body.of(valueOf(n, 2)), expect: { revision } }, never);
  }
}

/** Creates in between the others, beside an empty store. */
async function writes(
  run: Run,
  options: {
    readonly store: Store;
    readonly empty: Store;
    readonly title: string;
    readonly objects: number;
  },
): Promise<Row> {
  const { store, empty, title, objects } = options;
  const creator = (target: Store) => {
    let n = 0;
    return () => {
      n += 1;
      const { namespace, name } = keyOf((n * 618_033_989) % objects);
      const key = { kind: scope.kind, namespace, name: `${name}-${n}` };
      return target.create(key, Body.of(valueOf(n % 1000, 1)), never);
    };
  };
  const [one, other] = [creator(store), creator(empty)];
  const result = await duel(
    {
      ours: (ms) => closedLoop(64, one, { ms }),
      other: (ms) => closedLoop(64, other, { ms }),
    },
    { rounds: run.isQuick ? 3 : 7, ms: run.isQuick ? 200 : 1000 },
  );
  const { value, baseline, ratio } = result;
  return judged(
    {
      name: `${title}, creates of 64 writers beside an empty file`,
      unit: "/s",
      value,
      baseline,
      ratio,
    },
    { ratioAtLeast: 0.5 },
  );
}

/** A process from nothing to its first answer. */
async function startUp(
  run: Run,
  { path, title, objects }: { path: string; title: string; objects: number },
): Promise<Row> {
  const start = performance.now();
  const child = fork(program, [path, String(objects >> 1)], { signal: run.signal });
  const value = await new Promise<number>((resolve, reject) => {
    child.once("message", () => {
      resolve(performance.now() - start);
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      reject(new Error(`the process ended with ${code} before it answered`));
    });
  });
  return judged(
    { name: `${title}, process start to first get`, value, unit: "ms" },
    { atMost: 3000 },
  );
}
