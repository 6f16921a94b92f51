// A worker, to be killed: it counts every statement and every call to its cluster, before and after, and dies at the n-th
// of these points. Left alone it ends when nothing is left to do, and says how many there were.

import { systemClock, TaskScope } from "@keelson/base";
import { Client, fixedCredentials } from "@keelson/client";
import { openDatabase, statement } from "@keelson/database";
import { patience } from "@keelson/database/testing";
import { assembleWorker } from "../assembled-worker.ts";

interface Instructions {
  readonly url: string;
  readonly server: string;
  /** The row whose drift is to be seen, and healed. */
  readonly drifted: number;
  readonly killAt?: number;
}

const { url, server, drifted, killAt } = JSON.parse(process.argv[2] ?? "{}") as Instructions;
let points = 0;
const pass = (): void => {
  points += 1;
  if (points === killAt) process.kill(process.pid, "SIGKILL");
};

// oxlint-disable-next-line typescript/unbound-method -- It is called with its own client below.
const call = Client.prototype.call;
Client.prototype.call = async function (this: Client, ...asked) {
  pass();
  const answer = await call.apply(this, asked);
  pass();
  return answer;
};

const searchPath = ["fleet", "public"];
/** What says nothing of the work: whether somebody listens, and which targets there are. */
const others = new Set(["notify", "listen", "readServed", "markTarget"]);
await using database = openDatabase({
  url,
  name: "worker",
  searchPath,
  ...patience,
  onStatement: ({ statement }) => {
    if (!others.has(statement)) pass();
  },
});
await using looking = openDatabase({ url, name: "looking", searchPath, ...patience });
const never = new AbortController().signal;
const ended = new AbortController();
await using worker = assembleWorker({
  database,
  own: new Map([["prod", { server, credentials: fixedCredentials({}) }]]),
  owner: `process ${process.pid}`,
  limits: { leaseMs: 1_000, inFlightMax: 2, callTimeoutMs: 500 },
  signal: ended.signal,
});

const isSettled = statement<undefined, { settled: boolean }>(
  "isSettled",
  (sql) => sql`
    SELECT EXISTS (SELECT FROM events_unnumbered WHERE resource_id = ${drifted} AND type = 'resource.healed')
           AND NOT EXISTS (
             SELECT FROM resource_statuses s JOIN resource_attempts t ON t.resource_id = s.resource_id
             WHERE s.status <> 'synced' OR t.due_at IS NOT NULL) AS settled`,
);

await using scope = new TaskScope(ended.signal);
worker.run(scope);
for (;;) {
  const [row] = await looking.run(isSettled, undefined, never);
  if (row?.settled === true) break;
  await systemClock.sleep(20, never);
}
process.stdout.write(String(points));
ended.abort();
