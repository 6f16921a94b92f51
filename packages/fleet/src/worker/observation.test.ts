import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { annotations } from "./desired-object.ts";
import { observe, shapedLikeDesired, type Observation } from "./observation.ts";
import { ownedFields } from "./owned-fields.ts";

const apply = (fieldsV1: object, manager = "kontrol") => ({
  manager,
  operation: "Apply",
  time: "2026-01-01T00:00:00Z",
  fieldsV1,
});

function object(kind: string, data: Json, managedFields: readonly object[]): DynamicObject {
  const metadata = { name: "web", uid: "u", resourceVersion: "2", managedFields };
  return { apiVersion: "v1", kind, metadata, data } as unknown as DynamicObject;
}

/** What is seen now, after `before` was what the server made of our apply. */
function seen(before: DynamicObject, now: DynamicObject): Observation {
  const owned = ownedFields(before, "kontrol");
  const applied = { generation: 1, uid: "u", resourceVersion: "1", owned, recordedMs: undefined };
  const observed = observe(now, { id: 1, applied, isAwaited: false });
  assert.ok(typeof observed === "object");
  return observed;
}

test("a map that was applied empty is others' to fill and to change", () => {
  const ours = apply({ "f:data": {} });
  const theirs = apply({ "f:data": { "f:a": {} } }, "them");
  const before = object("ConfigMap", { a: "theirs" }, [ours, theirs]);
  assert.deepEqual(seen(before, object("ConfigMap", { a: "2" }, [ours, theirs])).drift, []);
});

test("a map that was ours as a whole has drifted once it is another's", () => {
  const before = object("Thing", { a: "1" }, [apply({ "f:data": {} })]);
  const now = object("Thing", { a: "2" }, [apply({}), apply({ "f:data": {} }, "them")]);
  assert.deepEqual(seen(before, now).drift, [
    { path: "/data", desired: { a: "1" }, current: { a: "2" }, manager: "them" },
  ]);
});

test("in another version than it was applied in a field has drifted once it is ours no longer, and a mark by its value", () => {
  const mark = { "f:metadata": { "f:annotations": { "f:kontrol/generation": {} } } };
  const old = { "f:spec": { "f:share": {}, "f:most": {} } };
  const in1 = (fields: object) => ({ ...apply({ ...mark, ...fields }), apiVersion: "x.io/v1" });
  const at = (apiVersion: string, spec: object, fields: object, generation = "1") => {
    const { metadata, ...rest } = object("Thing", null, [in1(fields), apply({}, "them")]);
    const marks = { annotations: { "kontrol/generation": generation } };
    return { ...rest, apiVersion, metadata: { ...metadata, ...marks }, spec } as DynamicObject;
  };
  const before = at("x.io/v1", { share: 50, most: 3 }, old);
  const renamed = { shares: [{ share: 50 }], most: 3 };
  assert.deepEqual(seen(before, at("x.io/v2", renamed, old)).drift, []);
  const taken = at("x.io/v2", { shares: [{ share: 60 }], most: 4 }, { "f:spec": { "f:most": {} } });
  assert.deepEqual(
    seen(before, taken).drift.map(({ path, desired }) => [path, desired]),
    [["/spec/share", 50]],
  );
  const stale = seen(before, at("x.io/v2", renamed, old, "0")).drift;
  assert.deepEqual(
    stale.map(({ path }) => path),
    ["/metadata/annotations/kontrol~1generation"],
  );
});

test("of a Secret's data nothing is told, be it one value or all of them", () => {
  for (const ours of [{ "f:data": {} }, { "f:data": { "f:a": {} } }]) {
    const before = object("Secret", { a: "c2VjcmV0" }, [apply(ours)]);
    const now = object("Secret", { a: "b3RoZXI=" }, [apply({}), apply(ours, "them")]);
    const [drift, ...others] = seen(before, now).drift;
    assert.deepEqual([drift?.desired, drift?.current, others], [null, null, []]);
  }
});

test("of annotations only our three marks are left out of what is there", () => {
  const it = object("ConfigMap", { a: "1" }, []);
  const marks = Object.fromEntries(Object.values(annotations).map((name) => [name, "1"]));
  const theirs = { "kontrol/team": "shop", "example.com/a": "b" };
  const now = { ...it, metadata: { ...it.metadata, annotations: { ...marks, ...theirs } } };
  assert.deepEqual(shapedLikeDesired(now), { data: { a: "1" }, metadata: { annotations: theirs } });
});

test("owners that are written in no way of Kubernetes own nothing, and nothing fails at them", () => {
  const strange = { "f:data": { "f:a": {} }, "k:{name": {}, "v:": {}, "x:y": {} };
  const it = object("Thing", { a: "1" }, [apply(strange)]);
  assert.deepEqual(ownedFields(it, "kontrol"), [{ path: ["data", "a"], value: "1" }]);
  assert.deepEqual(seen(it, it).drift, []);
});
