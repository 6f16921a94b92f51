// What identity, CORS, ids, lossless JSON, limits and metrics cost: an echo through the REST server beside the same
// echo on bare Fastify, in turns, in one run.

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { median } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import type { Mode } from "./rest-threads/server.ts";

const ratioGoal = 0.75;
const unit = "requests/s of the server's thread";
const token = "bench-token-0123456789abcdef";
const secret = "bench-secret-0123456789abcdef";
const body = JSON.stringify({
  cluster_id: "prod",
  namespace: "default",
  kind: "Deployment",
  name: "web",
  desired_spec: { spec: { replicas: 3, template: { metadata: { labels: { app: "web" } } } } },
});
const credentials: Readonly<Record<Exclude<Mode, "bare">, readonly string[]>> = {
  none: [],
  token: [`Authorization: Bearer ${token}`],
  gateway: [`X-Gateway-Secret: ${secret}`, "X-User-Email: alice@example.com", "X-User-Roles: dev"],
};

/**
 * Rows per mode: requests for each second that the server's thread really ran, and the share of bare Fastify's that
 * remains. On a machine of our own that is requests a second, one thread being what limits a server; on a busy one
 * the wall clock would measure the neighbours.
 */
export async function bench(run: Run): Promise<readonly Row[]> {
  const rounds = numberOf(run, "rounds", run.isQuick ? 3 : 11);
  const requestsPerRound = numberOf(run, "requests", run.isQuick ? 3_000 : 10_000);
  const connections = numberOf(run, "connections", 32);
  const start = async (mode: Mode): Promise<Server> => {
    const thread = new Worker(path("./rest-threads/server.ts"), {
      workerData: { mode, token, secret },
    });
    const [url] = (await once(thread, "message")) as [string];
    return { thread, url };
  };
  const bare = await start("bare");
  const pairs = await Promise.all(
    (Object.keys(credentials) as (keyof typeof credentials)[]).map(async (mode) => ({
      mode,
      ours: await start(mode),
      measured: { bare: [] as number[], ours: [] as number[] },
    })),
  );
  run.say(`${rounds} rounds of ${requestsPerRound} requests for each mode`);
  for (let round = -2; round < rounds; round++) {
    run.signal.throwIfAborted();
    for (const { mode, ours, measured } of pairs) {
      // Both get the very same requests, credentials included.
      for (const [name, { thread, url }] of [["bare", bare] as const, ["ours", ours] as const]) {
        const beforeUs = await usedBy(thread);
        await load({
          url,
          requests: requestsPerRound,
          connections,
          body,
          headers: credentials[mode],
        });
        const usedUs = (await usedBy(thread)) - beforeUs;
        if (round >= 0) measured[name].push(requestsPerRound / (usedUs / 1_000_000)); // The first two warm up.
      }
    }
  }
  await Promise.all(
    [bare, ...pairs.map(({ ours }) => ours)].map(({ thread }) => thread.terminate()),
  );

  return pairs.map(({ mode, measured }) => {
    const ratios = measured.ours.map((value, i) => value / (measured.bare[i] ?? Number.NaN));
    const row = {
      name: `echo, mode ${mode}, beside bare Fastify`,
      value: median(measured.ours),
      unit,
      baseline: median(measured.bare),
      ratio: median(ratios),
    };
    return judged(row, { ratioAtLeast: ratioGoal });
  });
}

interface Server {
  readonly thread: Worker;
  readonly url: string;
}

/** Microseconds of the processor that a server's thread has taken so far. */
async function usedBy(thread: Worker): Promise<number> {
  const answer = once(thread, "message");
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin.
  thread.postMessage("used?");
  const [us] = (await answer) as [number];
  return us;
}

/** Sends all requests from a thread of its own, and resolves when all are answered. */
async function load(workerData: object): Promise<void> {
  await once(new Worker(path("./rest-threads/load.ts"), { workerData }), "exit");
}

function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
