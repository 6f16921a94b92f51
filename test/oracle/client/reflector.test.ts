// The reflector on a bad network, in front of a server that dies and forgets. At the end of each trouble its cache
// equals a fresh list.

import assert from "node:assert/strict";
import { suite } from "node:test";

import { seededRandom, systemClock, type Random } from "@keelson/base";
import type { Client, DynamicObject, ResourceClient } from "@keelson/client";

import { startOracle, type Oracle } from "../cluster.ts";
import { fillBelow } from "../fill-below.ts";
import { oracleTest } from "../oracle-test.ts";
import type { TcpProxy } from "../tcp-proxy.ts";
import { until } from "../until.ts";
import {
  accessTo,
  assertLevel,
  clientOf,
  configMap,
  configMapKind,
  follow,
  proxyTo,
} from "./bed.ts";

const objectsMax = Number(process.env["REFLECTOR_OBJECTS"] ?? 10_000);
const rounds = Number(process.env["REFLECTOR_ROUNDS"] ?? 1);
const seed = process.env["REFLECTOR_SEED"] ?? "gate";

suite("reflector", { concurrency: true }, () => {
  oracleTest(
    `${objectsMax} objects, churn, and every trouble: the cache equals a list`,
    async (t) => {
      await using oracle = await startOracle({}, t.signal);
      await using proxy = await proxyTo(oracle);
      await using near = clientOf(accessTo(oracle));
      await using far = clientOf(accessTo(oracle, proxy.port));
      const { resource } = await near.resource(configMapKind, t.signal);
      const maps = await near.resource(configMapKind, t.signal);
      const random = seededRandom(`${seed}/churn`);
      await fillBelow(oracle, { resource: "configmaps", count: objectsMax, object }, t.signal);
      await using followed = follow(far, { resource });
      const check = (): Promise<void> =>
        assertLevel(followed.cache, { client: near, resource }, t.signal);
      await check();

      for (let round = 1; round <= rounds; round++) {
        for (const [what, trouble] of Object.entries(troubles)) {
          const startedMs = performance.now();
          await using _churn = churn(maps, random, t.signal);
          await trouble({ oracle, proxy, near, far }, t.signal);
          await _churn[Symbol.asyncDispose]();
          await check();
          t.diagnostic(`${what}: ${(performance.now() - startedMs).toFixed(0)} ms`);
        }
      }
      assert.ok(followed.states.includes("failing"), "some of it must have hurt");
    },
  );

  oracleTest(
    "a connection that is half open is found within 30 s, with the usual limits",
    async (t) => {
      await using oracle = await startOracle({}, t.signal);
      await using proxy = await proxyTo(oracle);
      await using near = clientOf(accessTo(oracle));
      await using far = clientOf(accessTo(oracle, proxy.port));
      const maps = await near.resource(configMapKind, t.signal);
      const { resource } = maps;
      await using busy = follow(far, { resource });
      await using quiet = follow(far, {
        resource,
        selection: { labelSelector: "nobody=has-this" },
      });
      await assertLevel(busy.cache, { client: near, resource }, t.signal);
      await quiet.cache.untilSynced(t.signal);
      proxy.weather = { type: "half-open" };
      const startedMs = performance.now();
      await maps.create(configMap("unseen", {}), {}, t.signal);
      const labels = { nobody: "has-this" };
      const metadata = { name: "unseen-too", namespace: "default", labels };
      await maps.create({ ...configMap("", {}), metadata }, {}, t.signal);
      const seen = (cache: typeof busy.cache, name: string): Promise<boolean> =>
        until(() => cache.get({ namespace: "default", name }) !== undefined, t.signal);
      await Promise.all([seen(busy.cache, "unseen"), seen(quiet.cache, "unseen-too")]);
      const tookMs = performance.now() - startedMs;
      t.diagnostic(`found after ${tookMs.toFixed(0)} ms`);
      assert.ok(tookMs < 30_000, `it took ${tookMs} ms`);
    },
  );

  oracleTest("a server that refuses to stream its state is listed", async (t) => {
    const flags = { "kube-apiserver": ["--feature-gates=WatchList=false"] };
    await using oracle = await startOracle({ flags }, t.signal);
    await using client = clientOf(accessTo(oracle));
    const maps = await client.resource(configMapKind, t.signal);
    await fill(maps, 20, t.signal);
    await using followed = follow(client, { resource: maps.resource });
    await assertLevel(followed.cache, { client, resource: maps.resource }, t.signal);
    await maps.delete({ namespace: "default", name: "object-3" }, t.signal);
    await assertLevel(followed.cache, { client, resource: maps.resource }, t.signal);
  });
});

interface World {
  readonly oracle: Oracle;
  readonly proxy: TcpProxy;
  readonly near: Client;
  readonly far: Client;
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
  "server killed": async ({ oracle }, signal) => {
    await oracle.stopProgram("kube-apiserver", "SIGKILL");
    await oracle.startProgram("kube-apiserver", signal);
  },
  // A watch is served from the server's memory: only after a restart does it miss what etcd has forgotten.
  "history gone": async ({ oracle, proxy, near }, signal) => {
    proxy.isRefusing = true;
    proxy.cut();
    const maps = await near.resource(configMapKind, signal);
    await maps.apply(configMap("history", { at: String(performance.now()) }), manager, signal);
    await oracle.compact(signal);
    await oracle.stopProgram("kube-apiserver", "SIGKILL");
    await oracle.startProgram("kube-apiserver", signal);
    proxy.isRefusing = false;
  },
};

function object(index: number): DynamicObject {
  return configMap(`object-${index}`, { n: "0" });
}

const manager = { fieldManager: "test" };

async function fill(maps: ResourceClient, count: number, signal: AbortSignal): Promise<void> {
  for (let i = 0; i < count; i++) {
    await maps.create(object(i), {}, signal);
  }
}

/** Writes without a pause until it is disposed of. The server may be away meanwhile. */
function churn(maps: ResourceClient, random: Random, signal: AbortSignal): AsyncDisposable {
  const over = new AbortController();
  const work = async (): Promise<void> => {
    while (!over.signal.aborted && !signal.aborted) {
      const name = `object-${random.integer(objectsMax)}`;
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
