// A reflector on a bad network, before a server that dies and forgets: after each trouble its cache equals a list.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";

import { seededRandom, systemClock, type Random } from "@keelson/base";
import {
  isExpired,
  openWatch,
  type Client,
  type DynamicObject,
  type ResourceClient,
} from "@keelson/client";

import type { TcpProxy } from "../../tools/tcp-proxy.ts";
import { until } from "../../tools/until.ts";
import {
  accessTo,
  assertLevel,
  clientOf,
  configMap,
  configMapKind,
  follow,
  proxyTo,
  type Reachable,
} from "./bed.ts";

/** A server that can be spoilt. */
export interface Spoilable {
  readonly target: Reachable;
  /** Kills it and starts it again. */
  restart(signal: AbortSignal): Promise<void>;
  /** Makes it forget its history, if that does not happen by itself. */
  forget?(signal: AbortSignal): Promise<void>;
}

export interface RoundsOptions {
  readonly rounds: number;
  readonly seed: string;
  /** The names that are written: `object-0` and so on. */
  readonly objects: number;
}

/** Runs each trouble in each round, under churn. */
export async function runReflectorRounds(
  server: Spoilable,
  { rounds, seed, objects }: RoundsOptions,
  t: TestContext,
): Promise<void> {
  const { target } = server;
  await using proxy = await proxyTo(target);
  await using near = clientOf(accessTo(target));
  await using far = clientOf(accessTo(target, proxy.port));
  const maps = await near.resource(configMapKind, t.signal);
  const { resource } = maps;
  const random = seededRandom(`${seed}/churn`);
  await using followed = follow(far, { resource });
  const check = (): Promise<void> =>
    assertLevel(followed.cache, { client: near, resource }, t.signal);
  await check();
  for (let round = 1; round <= rounds; round++) {
    for (const [what, trouble] of Object.entries(troubles)) {
      const startedMs = performance.now();
      await using churning = churn(maps, { random, objects }, t.signal);
      await trouble({ server, proxy, near }, t.signal);
      await churning[Symbol.asyncDispose]();
      await check();
      t.diagnostic(`${what}: ${(performance.now() - startedMs).toFixed(0)} ms`);
    }
  }
  assert.ok(followed.states.includes("failing"), "some of it must have hurt");
}

interface World {
  readonly server: Spoilable;
  readonly proxy: TcpProxy;
  readonly near: Client;
}

/** What can go wrong between us and a cluster, and in it. */
const troubles: Readonly<Record<string, (world: World, signal: AbortSignal) => Promise<void>>> = {
  cut: async ({ proxy }, signal) => {
    for (let i = 0; i < 3; i++) {
      proxy.cut();
      await systemClock.sleep(300, signal);
    }
  },
  delayed: async ({ proxy }, signal) => {
    proxy.weather = { type: "delay", ms: 150 };
    await systemClock.sleep(1_000, signal);
    proxy.weather = { type: "clear" };
  },
  "network gone": async ({ proxy }, signal) => {
    proxy.isRefusing = true;
    proxy.cut();
    await systemClock.sleep(1_000, signal);
    proxy.isRefusing = false;
  },
  "server killed": async ({ server }, signal) => await server.restart(signal),
  "history gone": async ({ server, proxy, near }, signal) => {
    proxy.isRefusing = true;
    proxy.cut();
    const maps = await near.resource(configMapKind, signal);
    const { resourceVersion } = await maps.list({ namespace: "kube-system" }, signal);
    await maps.apply(configMap("history", { at: String(performance.now()) }), manager, signal);
    await server.forget?.(signal);
    await until(() => hasForgotten(near, maps, resourceVersion, signal), signal);
    proxy.isRefusing = false;
  },
};

/** Whether nobody can watch from there any more. */
async function hasForgotten(
  client: Client,
  { resource }: ResourceClient,
  resourceVersion: string,
  signal: AbortSignal,
): Promise<boolean> {
  const request = { resource, resourceVersion, timeoutSeconds: 1, openTimeoutMs: 5_000 };
  try {
    for await (const _ of await openWatch(client, request, signal)) return false;
    return false;
  } catch (error) {
    return isExpired(error);
  }
}

const manager = { fieldManager: "test" };

export function roundObject(index: number): DynamicObject {
  return configMap(`object-${index}`, { n: "0" });
}

/** Writes without a pause until it is disposed of. The server may be away meanwhile. */
function churn(
  maps: ResourceClient,
  { random, objects }: { readonly random: Random; readonly objects: number },
  signal: AbortSignal,
): AsyncDisposable {
  const over = new AbortController();
  const work = async (): Promise<void> => {
    while (!over.signal.aborted && !signal.aborted) {
      const name = `object-${random.integer(objects)}`;
      const ref = { namespace: "default", name };
      try {
        if (random.float() < 0.3) await maps.delete({ ...ref, timeoutMs: 2_000 }, signal);
        else {
          const object = configMap(name, { n: String(random.integer(1_000)) });
          await maps.apply(object, { ...manager, timeoutMs: 2_000 }, signal);
        }
      } catch {
        await systemClock.sleep(50, signal).catch(() => undefined);
      }
    }
  };
  const workers = Promise.all(Array.from({ length: 4 }, work));
  return {
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await workers;
    },
  };
}
