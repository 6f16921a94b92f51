// A thousand watchers, a thousand writes a second: how long from a write to the watchers that see it, and how
// much of that the database itself takes when the same rows come to it at the same pace.

import { setTimeout as sleep } from "node:timers/promises";
import type { Store, Watch } from "@keelson/store";
import { Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { chosenOf, numberOf, type Run } from "../suite.ts";
import { backendNames, bodyOf, keyOf, never, openPlace, scope } from "./fixtures.ts";
import { rawRow, type RawWriter, withKey } from "./raw.ts";
import { rawPostgres } from "./raw-postgres.ts";
import { rawSqlite } from "./raw-sqlite.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const watchers = numberOf(run, "watchers", 1000);
  const rate = numberOf(run, "rate", 1000);
  const seconds = numberOf(run, "seconds", run.isQuick ? 3 : 20);
  const rows: Row[] = [];
  for (const name of chosenOf(run, "backend", backendNames)) {
    await using place = await openPlace(name);
    const store = await place.open();
    run.say(`${name}: ${watchers} watchers, ${rate} writes/s for ${seconds} s`);
    const { latencies, handing, writes, elapsedMs } = await fanOut(store, {
      watchers,
      rate,
      seconds,
    });
    run.say(`${name}: the same rows at the same pace, straight on the driver`);
    const database = await place.prepare();
    await using raw = name === "sqlite" ? rawSqlite(database) : await rawPostgres(database);
    const rawLatencies = await rawCommits(raw, { rate, seconds });
    const title = `${name} write → ${watchers.toLocaleString("en-US")} watchers at ${rate.toLocaleString("en-US")}/s`;
    const perSecond = (writes / elapsedMs) * 1000;
    rows.push(
      // What the generator really reached: a rate that was missed would flatter the rest.
      judged({ name: `${title}, rate`, value: perSecond, unit: "/s" }, { atLeast: rate * 0.98 }),
      { name: `${title}, deliveries`, value: (latencies.count / elapsedMs) * 1000, unit: "/s" },
      { name: `${title}, p50`, value: latencies.percentile(0.5), unit: "ms" },
      judged(
        { name: `${title}, p99`, value: latencies.percentile(0.99), unit: "ms" },
        { atMost: 5 },
      ),
      { name: `${title}, first watcher to last, p99`, value: handing.percentile(0.99), unit: "ms" },
      { name: `${title}, raw commit, p50`, value: rawLatencies.percentile(0.5), unit: "ms" },
      { name: `${title}, raw commit, p99`, value: rawLatencies.percentile(0.99), unit: "ms" },
    );
  }
  return rows;
}

/** Writes at a steady pace. Every watcher must see every write, in order. */
async function fanOut(
  store: Store,
  { watchers, rate, seconds }: { watchers: number; rate: number; seconds: number },
): Promise<{ latencies: Latencies; handing: Latencies; writes: number; elapsedMs: number }> {
  const from = await store.head(never);
  const writes = rate * seconds;
  /** When a write was called, by its place in the log: writes are committed in the order of the calls. */
  const calledAt = new Float64Array(writes);
  const latencies = new Latencies(8_000_000);
  const firstAt = new Float64Array(writes);
  const lastAt = new Float64Array(writes);

  const follow = async (watch: Watch): Promise<void> => {
    let last = from;
    while (last < from + writes) {
      const items = (await watch.next()) ?? [];
      const now = performance.now();
      for (const { revision } of items) {
        if (revision !== last + 1) throw new Error(`${revision} came after ${last}`);
        last = revision;
        const n = revision - from - 1;
        latencies.add(now - (calledAt[n] ?? 0));
        if (firstAt[n] === 0) firstAt[n] = now;
        lastAt[n] = now;
      }
    }
  };
  const watches = await Promise.all(
    Array.from({ length: watchers }, () => store.watch(scope, { from }, never)),
  );
  const followers = Promise.all(watches.map((watch) => follow(watch)));
  await sleep(100); // They are level now, and the machine is calm.

  const start = performance.now();
  const pending: Promise<unknown>[] = [];
  await pace({ rate, writes }, (n) => {
    calledAt[n] = performance.now();
    pending.push(store.create(keyOf(n), bodyOf(n), never));
  });
  await Promise.all(pending);
  const elapsedMs = performance.now() - start;
  await followers;
  for (const watch of watches) watch[Symbol.dispose]();
  const handing = new Latencies();
  lastAt.forEach((at, n) => handing.add(at - (firstAt[n] ?? 0)));
  return { latencies, handing, writes, elapsedMs };
}

/** The raw writer at the same pace: what comes while a commit runs goes into the next one, as with the store. */
async function rawCommits(
  raw: RawWriter,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<Latencies> {
  const writes = rate * seconds;
  const rows = Array.from({ length: writes }, (_, n) => withKey(rawRow(n, 1), n));
  const latencies = new Latencies();
  let waiting: { readonly n: number; readonly calledAt: number }[] = [];
  let running: Promise<void> | undefined;
  const commitAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await raw.create(batch.flatMap(({ n }) => rows[n] ?? []));
      const now = performance.now();
      for (const { calledAt } of batch) latencies.add(now - calledAt);
    }
    running = undefined;
  };
  await pace({ rate, writes }, (n) => {
    waiting.push({ n, calledAt: performance.now() });
    running ??= commitAll();
  });
  await running;
  return latencies;
}

/** Calls `write` for 0, 1, 2, … at a steady rate; whatever a late turn has missed is called at once. */
async function pace(
  { rate, writes }: { rate: number; writes: number },
  write: (n: number) => void,
): Promise<void> {
  const start = performance.now();
  for (let n = 0; n < writes;) {
    const due = Math.min(writes, Math.floor(((performance.now() - start) / 1000) * rate) + 1);
    for (; n < due; n += 1) write(n);
    await sleep(1);
  }
}
