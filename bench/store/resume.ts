// After a network hiccup a thousand watchers come back at once, each from an old revision of its own.

import type { Store } from "@keelson/store";
import { Latencies } from "../measure.ts";
import type { Row } from "../report.ts";
import { chosenOf, numberOf, type Run } from "../suite.ts";
import { backendNames, fill, never, openPlace, scope } from "./fixtures.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const watchers = numberOf(run, "watchers", 1000);
  const missed = numberOf(run, "missed", run.isQuick ? 2000 : 20_000);
  const rows: Row[] = [];
  for (const name of chosenOf(run, "backend", backendNames)) {
    await using place = await openPlace(name);
    const store = await place.open();
    run.say(`${name}: ${watchers} watchers resume, up to ${missed} changes behind`);
    await fill(store, { to: missed });
    const title = `${name} ${watchers.toLocaleString("en-US")} watchers resume`;
    for (const [label, oldest] of [
      ["from the last 1,000 changes", Math.min(1000, missed)],
      [`from the last ${missed.toLocaleString("en-US")} changes`, missed],
    ] as const) {
      const { level, changes, elapsedMs, bytes } = await storm(store, { watchers, oldest });
      rows.push(
        { name: `${title} ${label}`, value: (changes / elapsedMs) * 1000, unit: "changes/s" },
        { name: `${title} ${label}, all level after`, value: elapsedMs, unit: "ms" },
        { name: `${title} ${label}, p50`, value: level.percentile(0.5), unit: "ms" },
        { name: `${title} ${label}, memory it took`, value: bytes / 2 ** 20, unit: "MB" },
      );
    }
  }
  return rows;
}

/** Every watcher must get exactly what it missed. */
async function storm(
  store: Store,
  { watchers, oldest }: { readonly watchers: number; readonly oldest: number },
): Promise<{ level: Latencies; changes: number; elapsedMs: number; bytes: number }> {
  const head = await store.head(never);
  const level = new Latencies(watchers);
  let changes = 0;
  const residentBefore = process.memoryUsage.rss();
  let residentMax = residentBefore;
  const start = performance.now();
  const resume = async (watcher: number): Promise<void> => {
    // Spread over the whole stretch: they do not all meet on the same pages.
    const from = head - oldest + Math.floor(((watcher * 7919) % watchers) * (oldest / watchers));
    using watch = await store.watch(scope, { from }, never);
    let last = from;
    while (last < head) {
      for (const item of (await watch.next()) ?? []) {
        if (item.revision !== last + 1) throw new Error(`${item.revision} came after ${last}`);
        last = item.revision;
        changes += 1;
      }
      if (watcher === 0) residentMax = Math.max(residentMax, process.memoryUsage.rss());
    }
    level.add(performance.now() - start);
  };
  await Promise.all(Array.from({ length: watchers }, (_, watcher) => resume(watcher)));
  const elapsedMs = performance.now() - start;
  return { level, changes, elapsedMs, bytes: residentMax - residentBefore };
}
