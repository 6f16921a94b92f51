// What tests of the client and of controllers share: a client of an oracle, and a cache that must equal a fresh list.

import assert from "node:assert/strict";

import { seededRandom, silentLog, systemClock, type Log } from "@keelson/base";
import {
  Client,
  collectionOf,
  fixedCredentials,
  keyOf,
  refOf,
  runReflector,
  type Access,
  type ClientOptions,
  type DynamicObject,
  type ReflectorLimits,
  type ReflectorState,
  type Resource,
  type Selection,
} from "@keelson/client";
import { ObjectCache } from "@keelson/controller";

import type { KeyPair } from "../../tools/certificates.ts";
import { TcpProxy } from "../../tools/tcp-proxy.ts";
import { until } from "../../tools/until.ts";

export const configMapKind = { apiVersion: "v1", kind: "ConfigMap" } as const;

/** A server that can be reached: the oracle's, or ours. */
export interface Reachable {
  readonly url: string;
  readonly ca: string;
  readonly admin: KeyPair;
}

/** The admin's access, by a port of 127.0.0.1 if told. */
export function accessTo(target: Reachable, port = portOf(target)): Access {
  const { certificate, key } = target.admin;
  return {
    server: `https://127.0.0.1:${port}`,
    credentials: fixedCredentials({ ca: target.ca, certificate, key }),
  };
}

export function portOf({ url }: Reachable): number {
  return Number(new URL(url).port);
}

/** Fast enough for a test that makes thousands of objects. */
export function clientOf(access: Access, options: Partial<ClientOptions> = {}): Client {
  return new Client({
    access,
    rateLimit: { perSecond: 2_000, burst: 2_000 },
    random: seededRandom("client"),
    ...options,
  });
}

export async function proxyTo(target: Reachable): Promise<TcpProxy> {
  return await TcpProxy.to(portOf(target));
}

export interface Followed extends AsyncDisposable {
  readonly cache: ObjectCache;
  readonly states: readonly ReflectorState[];
}

/** A cache that follows a collection through a client. */
export function follow(
  client: Client,
  options: {
    readonly resource: Resource;
    readonly selection?: Selection;
    readonly limits?: Partial<ReflectorLimits>;
    readonly log?: Log;
  },
): Followed {
  const { resource, selection = {}, limits, log = silentLog } = options;
  const cache = new ObjectCache();
  const states: ReflectorState[] = [];
  const stop = new AbortController();
  const running = runReflector(
    {
      collection: collectionOf({ client, resource, selection }),
      mirror: cache,
      clock: systemClock,
      random: seededRandom("reflector"),
      log,
      metrics: client.metrics,
      ...(limits === undefined ? {} : { limits }),
      onState: (state) => void (states.at(-1) === state || states.push(state)),
    },
    stop.signal,
  );
  return {
    cache,
    states,
    [Symbol.asyncDispose]: async () => {
      stop.abort(new Error("the test has ended"));
      await running;
    },
  };
}

/** How long one list is held against a cache. */
const listMs = 5_000;

/**
 * Waits until the cache has come to where a list is that begins now, and compares the two. A write that its writer has given up may
 * come after the list: so there is another, now and then.
 */
export async function assertLevel(
  cache: ObjectCache,
  {
    client,
    resource,
    selection = {},
  }: { client: Client; resource: Resource; selection?: Selection },
  signal: AbortSignal,
): Promise<void> {
  const objects = await client.resource(resource, signal);
  let { items } = await objects.list(selection, signal);
  let listedMs = performance.now();
  let wanted = versionsOf(items);
  const isLevel = async (): Promise<boolean> => {
    if (performance.now() > listedMs + listMs) {
      ({ items } = await objects.list(selection, signal));
      listedMs = performance.now();
      wanted = versionsOf(items);
    }
    return (
      cache.size === wanted.size &&
      [...cache.list()].every((item) => wanted.get(keyOf(refOf(item))) === versionOf(item))
    );
  };
  try {
    await until(isLevel, signal);
  } catch {
    assert.deepEqual(
      versionsOf([...cache.list()]),
      wanted,
      "the cache does not come level with the list",
    );
  }
  for (const item of items) {
    const { managedFields: _, ...metadata } = item.metadata;
    assert.deepEqual(cache.get(refOf(item)), { ...item, metadata });
  }
}

function versionsOf(items: readonly DynamicObject[]): ReadonlyMap<string, string> {
  return new Map(items.map((item) => [keyOf(refOf(item)), versionOf(item)]));
}

export function versionOf(object: DynamicObject): string {
  return object.metadata.resourceVersion ?? "";
}

export function configMap(name: string, data: Readonly<Record<string, string>>): DynamicObject {
  return { ...configMapKind, metadata: { name, namespace: "default" }, data };
}
