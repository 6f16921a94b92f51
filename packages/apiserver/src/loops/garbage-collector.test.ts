import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";

import type { JsonObject } from "@keelson/base";
import { Body, SqliteBackend, Store } from "@keelson/store";
import { systemClock } from "@keelson/base";
import { until } from "@keelson/base/testing";

import { Api, meta, type Reply } from "../testing/api.ts";
import { configMap } from "../testing/objects.ts";
import { startTestServer } from "../testing/test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";

interface Reference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly blockOwnerDeletion?: boolean;
}

const ownedBy = (owner: Reply, more: Reference = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: meta(owner, "name"),
  uid: meta(owner, "uid"),
  ...more,
});

const owned = (name: string, ...ownerReferences: JsonObject[]): JsonObject =>
  configMap(name, { metadata: { ownerReferences } });

/** A server, and questions about what is there. */
async function prepare(signal: AbortSignal) {
  const server = await startTestServer({}, signal);
  const api = new Api(server.url, signal);
  const isGone = async (name: string): Promise<boolean> =>
    (await api.get(`${maps}/${name}`)).code === 404;
  return {
    api,
    isGone,
    goes: (name: string) => until(() => isGone(name), `${name} is gone`),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** How many Sets hold a value that they were given after this: what grows for ever is one of them. */
function setsHolding(t: TestContext): (value: string) => number {
  const { mock } = t.mock.method(Set.prototype, "add");
  return (value) =>
    mock.calls.filter(
      ({ this: set, arguments: [added] }) =>
        added === value && set instanceof Set && set.has(value),
    ).length;
}

/** Lets whoever watches a kind inside the server hear of its changes only when they are released. */
function lateWatches(t: TestContext, store: Store, kind: string) {
  let held = Promise.withResolvers<void>();
  held.resolve();
  const watch = store.watch.bind(store);
  t.mock.method(store, "watch", async (...asked: Parameters<Store["watch"]>) => {
    const changes = await watch(...asked);
    if (asked[0].kind !== kind) return changes;
    const batches = changes.batches.bind(changes);
    changes.batches = async function* () {
      for await (const batch of batches()) {
        await held.promise;
        yield batch;
      }
    };
    return changes;
  });
  const release = (): void => held.resolve();
  return {
    hold: (): void => void (held = Promise.withResolvers<void>()),
    release,
    [Symbol.dispose]: release,
  };
}

suite("garbage collection", () => {
  test("takes what has no owner left, however deep", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, goes } = bed;
    const top = await api.create(maps, configMap("top"));
    const middle = await api.create(maps, owned("middle", ownedBy(top)));
    await api.create(maps, owned("bottom", ownedBy(middle)));
    await api.delete(`${maps}/top`);
    await goes("middle");
    await goes("bottom");
  });

  test("remembers nothing of what is gone", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, goes } = bed;
    const holding = setsHolding(t);
    const owner = await api.create(maps, configMap("owner"));
    const child = await api.create(maps, owned("child", ownedBy(owner)));
    await api.delete(`${maps}/owner`);
    await goes("child"); // So it was seen.
    for (const uid of [meta(owner, "uid"), meta(child, "uid")]) {
      await until(async () => holding(uid) === 0, "nobody remembers it");
    }
  });

  test("keeps what another owner holds, and forgets the one that is gone", async (t) => {
    await using bed = await prepare(t.signal);
    const { api } = bed;
    const first = await api.create(maps, configMap("first"));
    const second = await api.create(maps, configMap("second"));
    await api.create(maps, owned("child", ownedBy(first), ownedBy(second)));
    await api.delete(`${maps}/first`);
    const ownersOf = async (): Promise<unknown> =>
      ((await api.get(`${maps}/child`)).object["metadata"] as JsonObject)["ownerReferences"];
    await until(async () => ((await ownersOf()) as JsonObject[]).length === 1, "one owner");
    assert.deepEqual(await ownersOf(), [ownedBy(second)]);
  });

  test("takes what names an owner that never was, or one that was made again", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, goes } = bed;
    const ghost = { apiVersion: "v1", kind: "ConfigMap", name: "ghost", uid: "no-such-uid" };
    await api.create(maps, owned("of-ghost", ghost));
    await goes("of-ghost");
    const owner = await api.create(maps, configMap("again"));
    await api.delete(`${maps}/again`);
    await api.create(maps, configMap("again"));
    await api.create(maps, owned("of-the-old-one", ownedBy(owner)));
    await goes("of-the-old-one");
    assert.equal(await bed.isGone("again"), false);
  });

  for (const [what, isAdopted] of [
    ["has found another owner", true],
    ["belongs to nobody any longer", false],
  ] as const) {
    test(`keeps what ${what}, though it has yet to hear of that`, async (t) => {
      const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
      await using store = await Store.open({ backend }, t.signal);
      using late = lateWatches(t, store, "Role.rbac.authorization.k8s.io");
      await using server = await startTestServer({ store }, t.signal);
      const api = new Api(server.url, t.signal);
      const isGone = async (name: string): Promise<boolean> =>
        (await api.get(`${roles}/${name}`)).code === 404;
      const role = (name: string, owner: JsonObject): JsonObject => {
        const metadata = { name, ownerReferences: [owner] };
        return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules: [] };
      };
      const old = ownedBy(await api.create(maps, configMap("old")));
      const other = ownedBy(await api.create(maps, configMap("other")));
      await api.create(roles, role("child", old));
      await api.create(roles, role("witness", old));
      await api.create(roles, role("of-ghost", { ...old, name: "ghost", uid: "no-such-uid" }));
      await until(() => isGone("of-ghost"), "the collector knows of them all");

      late.hold();
      const ownerReferences = isAdopted ? [other] : [];
      await api.merge(`${roles}/child`, { metadata: { ownerReferences } });
      await api.delete(`${maps}/old`);
      await until(() => isGone("witness"), "the other is collected");
      // Whatever else was to be collected then is, once the collector has heard of everything.
      late.release();
      await api.create(roles, role("of-ghost", { ...old, name: "ghost", uid: "no-such-uid" }));
      await until(() => isGone("of-ghost"), "the collector is level again");
      assert.equal(await isGone("child"), false);
    });
  }

  test("finds owners at the cluster scope, and leaves alone what kinds it does not know own", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, goes } = bed;
    const priority = await api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: "owner" },
      value: 1,
    });
    const type = { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass" };
    await api.create(maps, owned("of-class", ownedBy(priority, type)));
    const unknown = { apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: "u" };
    await api.create(maps, owned("of-unknown", unknown));
    await api.delete("/apis/scheduling.k8s.io/v1/priorityclasses/owner");
    await goes("of-class");
    assert.equal(await bed.isGone("of-unknown"), false);
  });

  test("in the foreground waits for those who block, and for no others", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, goes } = bed;
    const owner = await api.create(maps, configMap("owner"));
    const held = { finalizers: ["example.com/hold"] };
    const child = (name: string, blockOwnerDeletion: boolean): JsonObject => {
      const ownerReferences = [ownedBy(owner, { blockOwnerDeletion })];
      return configMap(name, { metadata: { ...held, ownerReferences } });
    };
    await api.create(maps, child("blocks", true));
    await api.create(maps, child("does-not", false));
    await api.delete(`${maps}/owner`, { propagationPolicy: "Foreground" });
    const isMarked = async (name: string): Promise<boolean> =>
      meta(await api.get(`${maps}/${name}`), "deletionTimestamp") !== "";
    await until(() => isMarked("blocks"), "the dependent is marked");
    assert.equal(await bed.isGone("owner"), false);
    await api.merge(`${maps}/blocks`, { metadata: { finalizers: null } });
    await goes("owner");
    await until(() => isMarked("does-not"), "the other follows");
  });

  test("in the foreground goes on once nobody blocks any longer", async (t) => {
    await using bed = await prepare(t.signal);
    const { api, goes } = bed;
    const top = await api.create(maps, configMap("top"));
    const blocking = owned("held", ownedBy(top, { blockOwnerDeletion: true }));
    const { metadata } = blocking as { metadata: JsonObject };
    await api.create(maps, { ...blocking, metadata: { ...metadata, finalizers: ["a.io/b"] } });
    await api.delete(`${maps}/top`, { propagationPolicy: "Foreground" });
    const isTerminating = async (): Promise<boolean> =>
      meta(await api.get(`${maps}/held`), "deletionTimestamp") !== "";
    await until(isTerminating, "held is being deleted");
    const ownerReferences = [ownedBy(top, { blockOwnerDeletion: false })];
    await api.merge(`${maps}/held`, { metadata: { ownerReferences } });
    await goes("top");
  });

  for (const names of [["a"], ["a", "b"], ["a", "b", "c"]]) {
    test(`in the foreground is not held up by ${names.length} who own each other in a circle`, async (t) => {
      await using bed = await prepare(t.signal);
      const { api, goes } = bed;
      const made: Reply[] = [];
      for (const name of names) made.push(await api.create(maps, configMap(name)));
      for (const [index, name] of names.entries()) {
        const owner = made.at(index - 1) ?? assert.fail(name);
        const ownerReferences = [ownedBy(owner, { blockOwnerDeletion: true })];
        await api.merge(`${maps}/${name}`, { metadata: { ownerReferences } });
      }
      await api.delete(`${maps}/a`, { propagationPolicy: "Foreground" });
      for (const name of names) await goes(name);
    });
  }

  for (const names of [
    ["a", "b"],
    ["a", "b", "c"],
  ]) {
    test(`in the foreground waits for nobody but others where ${names.length} in a circle were deleted one by one`, async (t) => {
      await using bed = await prepare(t.signal);
      const { api, goes } = bed;
      const owners: JsonObject[] = [];
      for (const name of names) {
        const owner = await api.create(maps, configMap(name));
        const reference = ownedBy(owner, { blockOwnerDeletion: true });
        owners.push(reference);
        const held = { ownerReferences: [reference], finalizers: ["a.io/b"] };
        await api.create(maps, configMap(`held-by-${name}`, { metadata: held }));
        await api.delete(`${maps}/${name}`, { propagationPolicy: "Foreground" });
      }
      for (const [index, name] of names.entries()) {
        const ownerReferences = [owners.at(index - 1) ?? assert.fail(name)];
        await api.merge(`${maps}/${name}`, { metadata: { ownerReferences } });
      }
      for (const name of names) {
        for (const other of names) assert.equal(await bed.isGone(other), false, other);
        await api.merge(`${maps}/held-by-${name}`, { metadata: { finalizers: null } });
      }
      for (const name of names) await goes(name);
    });
  }

  for (const names of [
    ["a", "b"],
    ["b", "a"],
  ]) {
    test(`in the foreground keeps who waits for one in a circle that is held, ${names.join(" before ")}`, async (t) => {
      await using bed = await prepare(t.signal);
      const { api, goes } = bed;
      const owners: JsonObject[] = [];
      for (const name of ["a", "b"]) {
        const metadata = name === "b" ? { finalizers: ["a.io/outside"] } : {};
        const reference = ownedBy(await api.create(maps, configMap(name, { metadata })), {
          blockOwnerDeletion: true,
        });
        owners.push(reference);
        const held = { ownerReferences: [reference], finalizers: ["a.io/b"] };
        await api.create(maps, configMap(`held-by-${name}`, { metadata: held }));
        await api.delete(`${maps}/${name}`, { propagationPolicy: "Foreground" });
      }
      await api.merge(`${maps}/a`, { metadata: { ownerReferences: owners.slice(1) } });
      await api.merge(`${maps}/b`, { metadata: { ownerReferences: owners.slice(0, 1) } });
      for (const name of names) {
        await api.merge(`${maps}/held-by-${name}`, { metadata: { finalizers: null } });
        await goes(`held-by-${name}`);
      }
      const finalizersOf = async (name: string): Promise<unknown> =>
        ((await api.get(`${maps}/${name}`)).object["metadata"] as JsonObject)["finalizers"];
      const isFree = async (): Promise<boolean> =>
        String(await finalizersOf("b")) === "a.io/outside";
      await until(isFree, "b to wait for nobody");
      assert.deepEqual(await finalizersOf("a"), ["foregroundDeletion"]);
      await api.merge(`${maps}/b`, { metadata: { finalizers: null } });
      for (const name of names) await goes(name);
    });
  }

  test("orphans what was there when the deletion was asked for, though nobody collected then", async (t) => {
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    await using store = await Store.open({ backend }, t.signal);
    const count = 600;
    const type = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" };
    {
      await using server = await startTestServer({ store }, t.signal);
      const api = new Api(server.url, t.signal);
      const metadata = { finalizers: ["example.com/hold"] };
      const owner = await api.create(maps, configMap("owner", { metadata }));
      const ownerReferences = [ownedBy(owner)];
      await Promise.all(
        Array.from({ length: count }, (_, index) => {
          const name = `child-${index}`;
          const key = { kind: "Role.rbac.authorization.k8s.io", namespace: "default", name };
          const own = { name, namespace: "default", uid: `uid-${name}`, ownerReferences };
          return store.create(key, Body.of({ ...type, metadata: own, rules: [] }), t.signal);
        }),
      );
    }
    // Marked by hand, as by a replica that does not collect: the next collector finds all of it at once.
    const key = { kind: "ConfigMap", namespace: "default", name: "owner" };
    const { body, revision } = await store.get(key, t.signal);
    const { metadata, ...rest } = body.value as { metadata: JsonObject };
    const marked = {
      ...rest,
      metadata: {
        ...metadata,
        finalizers: ["orphan"],
        deletionTimestamp: "2026-01-01T00:00:00Z",
        deletionGracePeriodSeconds: 0,
      },
    };
    await store.update(key, { body: Body.of(marked), expect: { revision } }, t.signal);
    await using server = await startTestServer({ store }, t.signal);
    const api = new Api(server.url, t.signal);
    await until(async () => (await api.get(`${maps}/owner`)).code === 404, "the owner is gone");
    const { items } = (await api.get(roles)).object as { items: JsonObject[] };
    const children = items.filter((object) => meta({ object }, "name").startsWith("child-"));
    assert.equal(children.length, count);
    assert.ok(
      children.every((one) => (one["metadata"] as JsonObject)["ownerReferences"] === undefined),
    );
  });
});
