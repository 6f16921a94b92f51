// The client behind proxies, before any server that speaks TLS.

import assert from "node:assert/strict";

import { systemClock, type JsonObject } from "@keelson/base";
import { loadKubeconfig, openWatch, ResourceClient } from "@keelson/client";

import type { KeyPair } from "../../tools/certificates.ts";
import { kubeconfigOf } from "../../tools/kubeconfig.ts";
import { until } from "../../tools/until.ts";
import {
  assertLevel,
  clientOf,
  configMap,
  configMapKind,
  follow,
  portOf,
  type Reachable,
} from "./bed.ts";
import { startHttpProxy, startSocksProxy, type Proxy } from "./proxies.ts";
import type { RequestWorld } from "./requests.ts";

const login = "me:s3cret";

const proxies: Readonly<Record<string, () => Promise<Proxy>>> = {
  "an HTTP proxy": () => startHttpProxy(),
  "an HTTP proxy with a login": () => startHttpProxy({ login }),
  "a SOCKS proxy": () => startSocksProxy(),
};

export const proxySteps: Readonly<Record<string, (world: RequestWorld) => Promise<void>>> = {
  ...Object.fromEntries(
    Object.entries(proxies).map(([what, start]) => [
      `by ${what}: one tunnel for all watches, and none that breaks loses an event`,
      (world: RequestWorld) => throughCuts(world, start),
    ]),
  ),

  "the environment's proxy is used, and not for what it excepts": async ({ target, signal }) => {
    await using proxy = await startHttpProxy();
    const server = `https://kubernetes.default.svc:${portOf(target)}`;
    const ask = async (noProxy: string): Promise<unknown> => {
      const proxies = { httpsProxy: proxy.url, noProxy };
      const access = await load(target, { server }, proxies);
      await using client = clientOf(access, { timeoutMs: noProxy === ".svc" ? 500 : 30_000 });
      return await client.resource(configMapKind, signal);
    };
    await ask("example.com");
    assert.deepEqual(new Set(proxy.asked), new Set([`CONNECT ${server.slice("https://".length)}`]));
    // Nobody but the proxy knows this name.
    const before = proxy.asked.length;
    await assert.rejects(ask(".svc"));
    assert.equal(proxy.asked.length, before);
  },

  "a tunnel that is refused has sent nothing, so even a write is tried again": async (world) => {
    const { target, client: near, signal } = world;
    await using proxy = await startHttpProxy();
    await using client = clientOf(await load(target, { "proxy-url": proxy.url }));
    const { resource } = await near.resource(configMapKind, signal);
    const maps = new ResourceClient(client, resource);
    proxy.isRefusing = true;
    const writing = maps.create(configMap("by-proxy", {}), {}, signal);
    await until(() => proxy.asked.length > 1, signal);
    proxy.isRefusing = false;
    await writing;
  },
};

/** A proxy that speaks TLS, with a certificate of the cluster's authority, as kubectl wants it. */
export async function bySecureProxy(world: RequestWorld, tls: KeyPair): Promise<void> {
  await throughCuts(world, () => startHttpProxy({ tls, login }));
}

async function throughCuts(
  { target, client: near, signal }: RequestWorld,
  start: () => Promise<Proxy>,
): Promise<void> {
  await using proxy = await start();
  await using far = clientOf(await load(target, { "proxy-url": proxy.url }));
  const maps = await near.resource(configMapKind, signal);
  const { resource } = maps;
  const { resourceVersion } = await maps.list({ namespace: "kube-system" }, signal);
  const stop = new AbortController();
  const watches = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const request = { resource, resourceVersion, openTimeoutMs: 60_000 };
      const events = await openWatch(far, request, stop.signal);
      return events[Symbol.asyncIterator]();
    }),
  );
  await maps.apply(configMap("seen", { at: proxy.url }), { fieldManager: "test" }, signal);
  const events = await Promise.all(watches.map((watch) => watch.next()));
  assert.ok(events.every(({ done }) => done !== true));
  assert.ok(proxy.open <= 4, `${proxy.open} tunnels are open`);
  stop.abort(new Error("the test has ended"));

  await using followed = follow(far, { resource });
  await followed.cache.untilSynced(signal);
  for (let round = 0; round < 3; round++) {
    await maps.apply(configMap("cut", { round: `${round}` }), { fieldManager: "test" }, signal);
    proxy.cut();
    await maps.apply(configMap(`cut-${round}`, {}), { fieldManager: "test" }, signal);
    await assertLevel(followed.cache, { client: near, resource }, signal);
  }
}

/** A kubeconfig that somebody sent: it may name a proxy. */
async function load(
  { ca, admin, url }: Reachable,
  cluster: JsonObject,
  proxies: Parameters<typeof loadKubeconfig>[1]["proxies"] = {},
) {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const trust = { server: url, "certificate-authority-data": base64(ca) };
  const user = {
    "client-certificate-data": base64(admin.certificate),
    "client-key-data": base64(admin.key),
  };
  const text = JSON.stringify(kubeconfigOf({ ...trust, ...cluster }, user));
  return await loadKubeconfig({ text }, { clock: systemClock, proxies, trust: "data" });
}
