import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { DynamicObject } from "@keelson/client";

import { ObjectCache, type Change, type ObjectCacheOptions } from "./object-cache.ts";

suite("ObjectCache", () => {
  test("announces what changed, once, and keeps indexes in step", () => {
    const { cache, changes } = fixture({
      indexes: { color: (object) => Object.values(object.metadata.labels ?? {}) },
    });
    cache.replace([object("a", 1, { color: "red" }), object("b", 2, { color: "blue" })], "5", {
      isBack: false,
    });
    cache.change("MODIFIED", object("a", 6, { color: "blue" }));
    cache.change("DELETED", object("b", 7, { color: "blue" }));
    cache.change("ADDED", object("c", 8, { color: "red" }));
    assert.deepEqual(changes.splice(0), [
      "initially added a@1",
      "initially added b@2",
      "updated a@6",
      "deleted b@2",
      "added c@8",
    ]);
    const under = (color: string): unknown[] =>
      [...cache.byIndex("color", color)].map(({ metadata }) => metadata.name);
    assert.deepEqual([under("red"), under("blue"), under("green")], [["c"], ["a"], []]);
    assert.deepEqual([cache.version, cache.size, cache.isSynced], ["8", 2, true]);
    assert.throws(() => [...cache.byIndex("size", "1")], /no index size/);
  });

  test("a new list announces only what differs", () => {
    const { cache, changes } = fixture({});
    cache.replace([object("a", 1), object("b", 2), object("c", 3)], "5", { isBack: false });
    changes.splice(0);
    cache.replace([object("a", 1), object("b", 6), object("d", 7)], "9", { isBack: false });
    assert.deepEqual(changes, ["updated b@6", "added d@7", "deleted c@3"]);
  });

  test("an object that was replaced by another of its name is deleted, then added", () => {
    const { cache, changes } = fixture({});
    cache.replace([object("a", 1, {}, "first")], "5", { isBack: false });
    cache.replace([object("a", 6, {}, "second")], "8", { isBack: false });
    assert.deepEqual(changes, ["initially added a@1", "deleted a@1", "added a@6"]);
  });

  test("a read after a write of ours sees it, and its event is not announced again", () => {
    const { cache, changes } = fixture({});
    cache.replace([object("a", 1)], "5", { isBack: false });
    changes.splice(0);
    cache.accept(object("a", 8));
    assert.equal(cache.get({ name: "a" })?.metadata.resourceVersion, "8");
    cache.change("MODIFIED", object("a", 6));
    cache.change("MODIFIED", object("a", 8));
    assert.equal(cache.get({ name: "a" })?.metadata.resourceVersion, "8");
    cache.change("MODIFIED", object("a", 9));
    assert.deepEqual(changes, ["updated a@8", "updated a@9"]);
  });

  test("a late answer to a write does not bring back what is gone or older", () => {
    const { cache, changes } = fixture({});
    cache.replace([object("a", 1)], "5", { isBack: false });
    cache.change("DELETED", object("a", 9));
    changes.splice(0);
    cache.accept(object("a", 7));
    assert.deepEqual([changes, cache.size], [[], 0]);
  });

  test("a list that is older than a write of ours does not undo it", () => {
    const { cache, changes } = fixture({});
    cache.replace([object("a", 1)], "5", { isBack: false });
    cache.accept(object("a", 8));
    cache.accept(object("b", 9));
    changes.splice(0);
    cache.replace([object("a", 6)], "7", { isBack: false });
    assert.deepEqual([changes, cache.size], [[], 2]);
    cache.replace([object("c", 10)], "11", { isBack: false });
    assert.deepEqual(changes, ["added c@10", "deleted a@8", "deleted b@9"]);
  });

  test("what we deleted is gone, whatever comes of its past", () => {
    const { cache, changes } = fixture({});
    cache.replace([object("a", 1, {}, "first")], "5", { isBack: false });
    cache.acceptDeletion({ name: "a" }, "first");
    cache.change("MODIFIED", object("a", 6, {}, "first"));
    cache.accept(object("a", 7, {}, "first")); // The answer to a write before.
    cache.replace([object("a", 6, {}, "first")], "6", { isBack: false });
    assert.equal(cache.get({ name: "a" }), undefined);
    cache.change("DELETED", object("a", 7, {}, "first"));
    cache.change("ADDED", object("a", 8, {}, "second"));
    assert.deepEqual(changes, ["initially added a@1", "deleted a@1", "added a@8"]);
  });

  test("a deletion of ours does not hide another object of the same name", () => {
    const { cache } = fixture({});
    cache.replace([object("a", 1, {}, "first")], "5", { isBack: false });
    cache.acceptDeletion({ name: "a" }, "first");
    cache.replace([object("a", 9, {}, "second")], "9", { isBack: false });
    assert.equal(cache.get({ name: "a" })?.metadata.uid, "second");
    cache.acceptDeletion({ name: "a" }, "first");
    assert.equal(cache.size, 1);
  });

  test("a store that was put back is believed over what we wrote", () => {
    const { cache, changes } = fixture({});
    cache.replace([object("a", 90)], "100", { isBack: false });
    cache.accept(object("a", 110));
    changes.splice(0);
    assert.equal(cache.known(), "110");
    cache.replace([object("a", 40)], "50", { isBack: true });
    assert.deepEqual(changes, ["updated a@40"]);
  });

  test("a write of ours that the selection does not cover leaves the cache", () => {
    const { cache, changes } = fixture({
      selects: ({ metadata: { labels = {} } }) => labels["keep"] === "yes",
    });
    cache.replace([object("a", 1, { keep: "yes" })], "5", { isBack: false });
    changes.splice(0);
    cache.accept(object("a", 6, { keep: "no" }));
    cache.accept(object("b", 7, { keep: "no" }));
    assert.deepEqual([changes, cache.size], [["deleted a@1"], 0]);
  });

  test("whoever subscribes late is told of everything there is, and indexes may come late too", () => {
    const { cache } = fixture({});
    cache.replace([object("a", 1, { color: "red" })], "5", { isBack: false });
    const late: string[] = [];
    const subscription = cache.subscribe((change) => late.push(print(change)));
    subscription[Symbol.dispose]();
    cache.change("ADDED", object("b", 6));
    cache.addIndex("color", ({ metadata: { labels = {} } }) => Object.values(labels));
    assert.deepEqual(
      [late, [...cache.byIndex("color", "red")].length],
      [["initially added a@1"], 1],
    );
  });

  test("objects of a namespace are found without looking at the others", () => {
    const { cache } = fixture({});
    const inside = (name: string, namespace: string): DynamicObject => ({
      ...object(name, 1),
      metadata: { name, namespace, resourceVersion: "1", uid: name },
    });
    cache.replace([inside("x", "one"), inside("y", "two"), inside("z", "one")], "5", {
      isBack: false,
    });
    const names = [...cache.list({ namespace: "one" })].map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ["x", "z"]);
    assert.equal(cache.get({ namespace: "two", name: "y" })?.metadata.name, "y");
  });

  test("managed fields are not kept, and waiting for the first state can be cancelled", async () => {
    const { cache } = fixture({});
    const stop = new AbortController();
    const waiting = cache.untilSynced(stop.signal);
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, { message: "enough" });
    const whole = object("a", 1);
    const metadata = { ...whole.metadata, managedFields: [{ manager: "x" }] };
    cache.replace([{ ...whole, metadata }], "5", { isBack: false });
    assert.deepEqual(cache.get({ name: "a" }), whole);
    await cache.untilSynced(new AbortController().signal);
  });
});

function fixture(options: ObjectCacheOptions) {
  const cache = new ObjectCache<DynamicObject>(options);
  const changes: string[] = [];
  cache.subscribe((change) => changes.push(print(change)));
  return { cache, changes };
}

function print(change: Change): string {
  const { name, resourceVersion } = change.object.metadata;
  const initially = change.type === "added" && change.isInitial ? "initially " : "";
  return `${initially}${change.type} ${name}@${resourceVersion}`;
}

function object(
  name: string,
  version: number,
  labels: Readonly<Record<string, string>> = {},
  uid = `uid-${name}`,
): DynamicObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, uid, resourceVersion: String(version), labels },
  };
}
