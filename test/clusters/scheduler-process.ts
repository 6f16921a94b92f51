#!/usr/bin/env node
// A scheduler to be killed: it takes small batches from the database whose URL it is given, and says so after each.

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { Scheduler, schedulerMetrics } from "@keelson/clusters";
import { openDatabase, Outbox, Wakeups } from "@keelson/database";

const database = openDatabase({
  url: process.argv[2] ?? "",
  name: "killed",
  searchPath: ["lifecycle", "public"],
  onStatement: ({ statement, phase }) => {
    if (statement === "announceDue" && phase === "after") process.stdout.write("batch\n");
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
