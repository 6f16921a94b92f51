// A worker as a process of its own. It may be told to stand still once, having read what it is to apply: it says
// `holding`, and goes on when it is told.

import { once } from "node:events";
import { noMetrics, silentLog, systemClock, systemRandom, TaskScope } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import { fixedCredentials } from "@keelson/client";
import { openDatabase, Wakeups, type StatementPoint } from "@keelson/database";
import {
  CredentialCipher,
  FleetWorker,
  TargetClients,
  WorkBell,
  workerMetrics,
} from "@keelson/fleet";

interface Instructions {
  readonly url: string;
  readonly server: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly holds: boolean;
}

const { url, server, name, leaseMs, holds } = JSON.parse(process.argv[2] ?? "{}") as Instructions;
let isToHold = holds;
const onStatement = async ({ phase, statement }: StatementPoint): Promise<void> => {
  if (!isToHold || phase !== "after" || statement !== "readClaimed") return;
  isToHold = false;
  process.stdout.write("holding\n");
  await once(process.stdin, "data");
};

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
const shared = { clock: systemClock, random: systemRandom };
const metrics = new RecordingMetrics();
await using database = openDatabase({
  url,
  name,
  searchPath: ["fleet", "public"],
  connectionsMax: 4,
  deadlineMs: 120_000,
  onStatement,
});
const wakeups = new Wakeups({ database });
const cipher = new CredentialCipher([Buffer.alloc(32, 9)], systemRandom);
const own = new Map([["prod", { server, credentials: fixedCredentials({}) }]]);
await using clients = new TargetClients({
  ...shared,
  database,
  cipher,
  own,
  proxies: {},
  callTimeoutMs: 10_000,
  metrics: noMetrics,
});
const worker = new FleetWorker({
  ...shared,
  database,
  wakeups,
  bell: new WorkBell({ wakeups, log: silentLog, signal: stop.signal }),
  clients,
  isOwn: () => true,
  onlyCluster: undefined,
  owner: name,
  limits: {
    leaseMs,
    pollMs: 30_000,
    deafPollMs: 100,
    staleMs: 60_000,
    inFlightMax: 8,
    callTimeoutMs: 60_000,
    backoffMs: { min: 50, max: 500 },
  },
  log: silentLog,
  metrics: workerMetrics(metrics),
});
await using scope = new TaskScope(stop.signal);
scope.spawn("wake-ups", (signal) => wakeups.run(signal));
scope.spawn("worker", (signal) => worker.run(signal));
process.stdout.write("running\n");
await scope.join();
const refused = metrics.value("keelson_fleet_stale_write_refused_total", {}) ?? 0;
process.stdout.write(`refused ${refused}\n`);
process.stdin.destroy();
