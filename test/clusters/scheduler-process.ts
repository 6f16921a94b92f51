#!/usr/bin/env node
// A scheduler to be killed: it takes small batches from the database whose URL it is given, and says so after each.
// After so many it takes no more: however late it is killed, something is left.

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { Scheduler, schedulerMetrics } from "@keelson/clusters";
import { openDatabase, Outbox, Wakeups } from "@keelson/database";

const batchesMax = 100;
let batches = 0;
const database = openDatabase({
  url: process.argv[2] ?? "",
  name: "killed",
  searchPath: ["lifecycle", "public"],
  onStatement: async ({ statement, phase }) => {
    if (statement !== "announceDue" || phase !== "after") return;
    process.stdout.write("batch\n");
    batches += 1;
    if (batches >= batchesMax) await new Promise<never>(() => undefined);
  },
});
const scheduler = new Scheduler({
  database,
  outbox: new Outbox({ database, wakeups: new Wakeups({ database }), name: "lifecycle.outbox" }),
  clock: systemClock,
  time: systemClock,
  random: systemRandom,
  log: silentLog,
  metrics: schedulerMetrics(noMetrics),
  cadence: { unhealthyMs: 30_000, healthyMs: 300_000, newMs: 7_200_000, decayAfter: 10 },
  tickMs: 30_000,
  refreshStatuses: async () => undefined,
  batchMax: 5,
});
await scheduler.run(new AbortController().signal);
