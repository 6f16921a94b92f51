// A thousand watchers, a thousand writes a second: how long from a write to the watchers that see it.

import { setTimeout as sleep } from "node:timers/promises";
import type { Store, Watch } from "@keelson/store";
import { Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { backendNames, bodyOf, keyOf, never, openPlace, scope } from "./fixtures.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const watchers = numberOf(run, "watchers", 1000);
  const rate = numberOf(run, "rate", 1000);
  const seconds = numberOf(run, "seconds", run.isQuick ? 3 : 20);
  const only = run.parameters.get("backend");
  const rows: Row[] = [];
  for (const name of backendNames.filter((name) => only === undefined || name === only)) {
    await using place = await openPlace(name);
    const store = await place.open();
    run.say(`${name}: ${watchers} watchers, ${rate} writes/s for ${seconds} s`);
    const { latencies, writes, elapsedMs } = await fanOut(store, { watchers, rate, seconds });
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
    );
  }
  return rows;
}

/** Writes at a steady pace. Every watcher must see every write, in order. */
async function fanOut(
  store: Store,
  { watchers, rate, seconds }: { watchers: number; rate: number; seconds: number },
): Promise<{ latencies: Latencies; writes: number; elapsedMs: number }> {
  const from = await store.head(never);
  const writes = rate * seconds;
  /** When a write was called, by its place in the log: writes are committed in the order of the calls. */
  const calledAt = new Float64Array(writes);
  const latencies = new Latencies(8_000_000);

  const follow = async (watch: Watch): Promise<void> => {
    let last = from;
    while (last < from + writes) {
      const items = (await watch.next()) ?? [];
      const now = performance.now();
      for (const { revision } of items) {
        if (revision !== last + 1) throw new Error(`${revision} came after ${last}`);
        last = revision;
        latencies.add(now - (calledAt[revision - from - 1] ?? 0));
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
  for (let n = 0; n < writes;) {
    const due = Math.min(writes, Math.floor(((performance.now() - start) / 1000) * rate) + 1);
    for (; n < due; n += 1) {
      calledAt[n] = performance.now();
      pending.push(store.create(keyOf(n), bodyOf(n), never));
    }
    await sleep(1);
  }
  await Promise.all(pending);
  const elapsedMs = performance.now() - start;
  await followers;
  for (const watch of watches) watch[Symbol.dispose]();
  return { latencies, writes, elapsedMs };
}
