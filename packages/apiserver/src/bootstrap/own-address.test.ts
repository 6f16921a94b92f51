import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemClock, type JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { migratePostgres, PostgresBackend, SqliteBackend, Store } from "@keelson/store";

import { Api } from "../testing/api.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const never = new AbortController().signal;
const endpointsPath = "/api/v1/namespaces/default/endpoints/kubernetes";
const servicePath = "/api/v1/namespaces/default/services/kubernetes";
const slicesPath = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

interface Subset {
  readonly addresses: readonly { readonly ip: string }[];
  readonly ports: readonly { readonly port: number }[];
}

interface Slice {
  readonly metadata: { readonly name: string };
  readonly endpoints: readonly { readonly addresses: readonly string[] }[];
  readonly ports: readonly { readonly port: number }[];
}

/** A server that replicas of ours share a database with. */
interface Replica extends AsyncDisposable {
  readonly api: Api;
  readonly port: number;
  readonly store: Store;
}

/** How to start replicas on one database, empty at first. */
async function replicasOn(schema: string): Promise<(signal: AbortSignal) => Promise<Replica>> {
  const { url } = await sharedThrowawayPostgres("embedded");
  await migratePostgres({ url, schema });
  return async (signal) => {
    const backend = await PostgresBackend.open({ url, schema, clock: systemClock }, never);
    const store = await Store.open({ backend, limits: { compactionEveryMs: undefined } }, never);
    const server = await startTestServer({ store }, signal);
    return {
      ...reached(server, signal),
      store,
      [Symbol.asyncDispose]: async () => {
        await server[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
      },
    };
  };
}

function reached({ url }: TestServer, signal: AbortSignal): { api: Api; port: number } {
  return { api: new Api(url, signal), port: Number(new URL(url).port) };
}

/** The ports in Endpoints, and those in each slice with as many addresses. */
async function published(api: Api): Promise<JsonObject> {
  const { subsets = [] } = (await api.get(endpointsPath)).object as { subsets?: Subset[] };
  const { items } = (await api.get(slicesPath)).object as unknown as { items: readonly Slice[] };
  const slices = items.map(({ metadata, endpoints, ports }) => [
    metadata.name,
    endpoints.flatMap(({ addresses }) => addresses.flatMap(() => ports.map(({ port }) => port))),
  ]);
  return {
    endpoints: subsets.flatMap(({ addresses, ports }) =>
      addresses.flatMap(() => ports.map(({ port }) => port)),
    ),
    slices: Object.fromEntries(slices) as JsonObject,
  };
}

/** What is to be published of servers on one machine. */
function leadingTo(...replicas: readonly { readonly port: number }[]): JsonObject {
  const ports = replicas.map(({ port }) => port).toSorted((a, b) => a - b);
  const slices = ports.map((port, index) => [
    index === 0 ? "kubernetes" : `kubernetes-${port}`,
    [port],
  ]);
  return { endpoints: ports, slices: Object.fromEntries(slices) as JsonObject };
}

async function comesToLead(api: Api, wanted: JsonObject, what: string): Promise<void> {
  let found: JsonObject = {};
  const isSo = async (): Promise<boolean> => {
    found = await published(api);
    return JSON.stringify(found) === JSON.stringify(wanted);
  };
  await until(isSo, what).catch(() => assert.deepEqual(found, wanted, what));
}

suite("the Service kubernetes", () => {
  test("leads to every replica, until that has gone", async (t) => {
    const start = await replicasOn("own_address");
    const replicas = await Promise.all([start(t.signal), start(t.signal), start(t.signal)]);
    await using undo = new AsyncDisposableStack();
    for (const one of replicas) undo.use(one);
    const [first, second, third] = replicas.toSorted((a, b) => a.port - b.port);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    await comesToLead(third.api, leadingTo(first, second, third), "all three are there");
    await first[Symbol.asyncDispose]();
    await comesToLead(third.api, leadingTo(second, third), "the first has gone");
    await using late = await start(t.signal);
    await comesToLead(third.api, leadingTo(second, third, late), "another has come");
  });

  test("leads to one that was killed until its lease has ended", async (t) => {
    const start = await replicasOn("killed_address");
    const killed = { ip: "10.9.8.7", port: 1 };
    await using one = await start(t.signal);
    const lease = `address ${killed.ip}:${killed.port}`;
    const held = { holder: "server", ttlMs: 3_600_000 };
    assert.ok((await one.store.claim(lease, held, t.signal)) !== undefined);
    const { object } = await one.api.get(endpointsPath);
    const { subsets } = object as unknown as { subsets: readonly Subset[] };
    const ports = [{ name: "https", port: killed.port, protocol: "TCP" }];
    const both = [{ addresses: [{ ip: killed.ip }], ports }, ...(subsets as never[])];
    assert.equal((await one.api.merge(endpointsPath, { subsets: both })).code, 200);
    // A start looks at everybody's lease.
    await using other = await start(t.signal);
    await comesToLead(one.api, leadingTo(killed, one, other), "its lease is held");
    await one.store.release(lease, held.holder, t.signal);
    await comesToLead(one.api, leadingTo(one, other), "its lease has ended");
  });

  test("leads to the one server of a file, wherever it was before", async (t) => {
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    await using store = await Store.open({ backend }, t.signal);
    for (let start = 0; start < 3; start += 1) {
      await using server = await startTestServer({ store }, t.signal);
      const { api, port } = reached(server, t.signal);
      assert.deepEqual(await published(api), leadingTo({ port }));
    }
  });

  test("comes back when somebody has deleted it, with the address that it had", async (t) => {
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    await using store = await Store.open({ backend }, t.signal);
    await using server = await startTestServer({ store }, t.signal);
    const { api } = reached(server, t.signal);
    const { uid, address } = placeOf((await api.get(servicePath)).object);
    const addressPath = `/apis/networking.k8s.io/v1/ipaddresses/${address}`;
    assert.equal((await api.delete(servicePath)).code, 200);
    // What is given back is so a moment later, and may then be the new one's: it is taken again.
    const isBack = async (): Promise<boolean> => {
      const [service, held] = [await api.get(servicePath), await api.get(addressPath)];
      const found = placeOf(service.object);
      return service.code === 200 && found.uid !== uid && held.code === 200;
    };
    await until(isBack, "it is there again");
    assert.equal(placeOf((await api.get(servicePath)).object).address, address);
    const another = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "another" },
      spec: { clusterIP: address, ports: [{ port: 80 }] },
    };
    const refused = await api.create("/api/v1/namespaces/default/services", another);
    assert.match(refused.text, /provided IP is already allocated/);
  });
});

function placeOf(service: JsonObject): { readonly uid: string; readonly address: string } {
  const { metadata = {}, spec = {} } = service as {
    metadata?: { uid?: string };
    spec?: { clusterIP?: string };
  };
  return { uid: metadata.uid ?? "", address: spec.clusterIP ?? "" };
}
