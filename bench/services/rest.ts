// What identity, CORS, ids, lossless JSON, limits and metrics cost: an echo through the REST server beside the same
// echo on bare Fastify, in turns, in one run.

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Mode } from "./rest-server.ts";

/** One measured figure. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline?: number;
  readonly ratio?: number;
  readonly goal?: string;
  readonly met?: boolean;
}

export interface RestBenchOptions {
  /** How often each server is measured, in turns; the median counts. */
  readonly rounds?: number;
  readonly requestsPerRound?: number;
  readonly connections?: number;
}

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
export async function benchRest(options: RestBenchOptions = {}): Promise<readonly Row[]> {
  const { rounds = 9, requestsPerRound = 10_000, connections = 32 } = options;
  const start = async (mode: Mode): Promise<Server> => {
    const thread = new Worker(path("./rest-server.ts"), { workerData: { mode, token, secret } });
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
  for (let round = -2; round < rounds; round++) {
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
    const baseline = Math.round(median(measured.bare));
    const value = Math.round(median(measured.ours));
    const ratio = Number((value / baseline).toFixed(3));
    const goal = `ratio ≥ ${ratioGoal}`;
    return {
      name: `echo, mode ${mode}, beside bare Fastify`,
      value,
      unit,
      baseline,
      ratio,
      goal,
      met: ratio >= ratioGoal,
    };
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
  await once(new Worker(path("./rest-load.ts"), { workerData }), "exit");
}

function path(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
