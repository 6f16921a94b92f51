// WATCH-11: what goes wrong around caches of unmodified clients, and that they are level whenever it is calm. The same with a host
// between them and the server.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { Random } from "@keelson/base";
import type { ThrowawayPostgres } from "@keelson/database/testing";

import { kubeconfigFor } from "../../oracle/cluster-files.ts";
import type { TcpProxy } from "../../tools/tcp-proxy.ts";
import type { Target } from "../target.ts";
import type { Caches } from "../walks/caches.ts";
import { measure } from "./length.ts";

export const seconds = measure({ gate: 6, full: 3_600 });
export const seed = process.env["KEELSON_TEST_SEED"] ?? "chaos";
/** Clients wait up to half a minute between tries, and as long again to miss a silent connection. */
export const patienceMs = 150_000;
/** Short, so that whoever was away for a while finds its revision gone. */
export const compaction = ["--compaction-interval", "1s"];

/** What is done, by its name. */
export type Troubles = Readonly<Record<string, () => Promise<unknown>>>;

interface Troubled {
  readonly server: {
    start(signal: AbortSignal): Promise<void>;
    stop(how: NodeJS.Signals): Promise<unknown>;
  };
  /** Between the clients and whom they ask. */
  readonly proxies: readonly TcpProxy[];
  readonly database: ThrowawayPostgres | undefined;
}

/** Those that every place knows. */
export function usualTroubles(
  { server, proxies, database }: Troubled,
  signal: AbortSignal,
): Troubles {
  return {
    "connections cut": async () => proxies.forEach((proxy) => proxy.cut()),
    "no network": async () => {
      for (const proxy of proxies) proxy.isRefusing = true;
      for (const proxy of proxies) proxy.cut();
      // Longer than two cuts of the log: whoever comes back has to list again.
      await wait(2_500, undefined, { signal });
      clear(proxies);
    },
    "kill -9": async () => {
      await server.stop("SIGKILL");
      await server.start(signal);
    },
    restart: async () => {
      await server.stop("SIGTERM");
      await server.start(signal);
    },
    ...(database === undefined
      ? {}
      : { "database restarted": async () => await database.restart({ mode: "immediate" }) }),
  };
}

/** The network is as it should be. */
export function clear(proxies: readonly TcpProxy[]): void {
  for (const proxy of proxies) {
    proxy.weather = { type: "clear" };
    proxy.isRefusing = false;
  }
}

export interface Endured {
  readonly troubles: Troubles;
  readonly caches: Caches;
  readonly random: Random;
  /** Writes while a trouble lasts; answers how much was taken. */
  readonly write: (seed: string) => Promise<number>;
  /** Lets it be calm, and waits until it is. */
  readonly calm: () => Promise<void>;
  /** What holds after each trouble. */
  readonly check?: (trouble: string) => void;
}

/** Writes through one trouble after the other, in the gate each once and at length by chance; at every rest the caches are level. */
export async function endure(
  t: TestContext,
  { troubles, caches, random, write, calm, check }: Endured,
): Promise<void> {
  const plan = Object.keys(troubles);
  const done = new Map<string, number>();
  const deadline = performance.now() + seconds * 1_000;
  let [written, rests] = [0, 0];
  for (let round = 0; round < plan.length || performance.now() < deadline; round += 1) {
    const name = plan[round] ?? random.pick(plan);
    const writing = Promise.all([0, 1].map((writer) => write(`${seed}/${round}/${writer}`)));
    writing.catch(() => undefined); // It is awaited below.
    await troubles[name]?.();
    check?.(name);
    done.set(name, (done.get(name) ?? 0) + 1);
    for (const taken of await writing) {
      assert.ok(taken > 0, `${name}: nothing was written`);
      written += taken;
    }
    if (round + 1 < plan.length || random.integer(3) > 0) continue;
    await calm();
    await caches.assertLevel(t.signal);
    rests += 1;
  }
  await calm();
  const objects = await caches.assertLevel(t.signal);
  const told = [...done].map(([name, count]) => `${name} ${count}`).join(", ");
  t.diagnostic(
    `${written} writes, ${objects} objects in the end, level ${rests + 1} times; ${told}`,
  );
}

/** The admin's way to the target through a network that is spoilt. */
export function kubeconfigThrough(
  { admin: { certificate, key }, ca }: Pick<Target, "admin" | "ca">,
  proxy: TcpProxy,
  path: string,
): string {
  const url = `https://127.0.0.1:${proxy.port}`;
  writeFileSync(path, kubeconfigFor({ url, ca, certificate, key }), { mode: 0o600 });
  return path;
}
