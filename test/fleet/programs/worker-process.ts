// A worker as a process of its own. It may be told to stand still once, having read what it is to apply: it says
// `holding`, and goes on when it is told.

import { once } from "node:events";
import { TaskScope } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import { fixedCredentials } from "@keelson/client";
import { openDatabase, type StatementPoint } from "@keelson/database";
import { assembleWorker } from "../assembled-worker.ts";

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
const metrics = new RecordingMetrics();
await using database = openDatabase({
  url,
  name,
  searchPath: ["fleet", "public"],
  connectionsMax: 4,
  deadlineMs: 120_000,
  connectTimeoutMs: 30_000,
  onStatement,
});
await using worker = assembleWorker({
  database,
  own: new Map([["prod", { server, credentials: fixedCredentials({}) }]]),
  owner: name,
  limits: { leaseMs, callTimeoutMs: 60_000 },
  metrics,
  signal: stop.signal,
});
await using scope = new TaskScope(stop.signal);
worker.run(scope);
process.stdout.write("running\n");
await scope.join();
const refused = metrics.value("keelson_fleet_stale_write_refused_total", {}) ?? 0;
process.stdout.write(`refused ${refused}\n`);
process.stdin.destroy();
