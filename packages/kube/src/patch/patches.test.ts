import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { JsonNumber, type Json, type JsonObject } from "@keelson/base";
import * as fc from "fast-check";

import { StatusError } from "../status/status.ts";
import { deploymentSchema } from "../testing/deployment-schema.ts";
import { decodeJsonPatch } from "./json-patch-decode.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

function failureOf(call: () => unknown): readonly [number, string | undefined] {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return [error.status.code, error.status.message];
  }
  return assert.fail("it did not fail");
}

function patched(document: JsonObject, patch: Json): Json {
  return applyJsonPatch(document, decodeJsonPatch(patch).operations);
}

suite("JSON patch", () => {
  const document = { a: { b: [1, 2, 3], c: null, "x/y": 1, "m~n": 2 }, d: "text" } as const;

  for (const [what, patch, expected] of [
    ["adds a member", [{ op: "add", path: "/e", value: 1 }], { ...document, e: 1 }],
    [
      "adds an item",
      [{ op: "add", path: "/a/b/1", value: 9 }],
      { ...document, a: { ...document.a, b: [1, 9, 2, 3] } },
    ],
    [
      "appends",
      [{ op: "add", path: "/a/b/-", value: 9 }],
      { ...document, a: { ...document.a, b: [1, 2, 3, 9] } },
    ],
    [
      "counts from the end",
      [{ op: "replace", path: "/a/b/-1", value: 9 }],
      { ...document, a: { ...document.a, b: [1, 2, 9] } },
    ],
    [
      "replaces what is not there",
      [{ op: "replace", path: "/new", value: 1 }],
      { ...document, new: 1 },
    ],
    [
      "unescapes keys",
      [
        { op: "replace", path: "/a/x~1y", value: 5 },
        { op: "replace", path: "/a/m~0n", value: 6 },
      ],
      { ...document, a: { ...document.a, "x/y": 5, "m~n": 6 } },
    ],
    [
      "ignores what stands before the first slash",
      [{ op: "add", path: "zzz/e", value: 1 }],
      { ...document, e: 1 },
    ],
    ["adds null where no value is said", [{ op: "add", path: "/e" }], { ...document, e: null }],
    ["moves", [{ op: "move", from: "/d", path: "/a/d" }], { a: { ...document.a, d: "text" } }],
    [
      "copies what is not there as null",
      [{ op: "copy", from: "/none", path: "/e" }],
      { ...document, e: null },
    ],
    [
      "tests null against absent",
      [
        { op: "test", path: "/none", value: null },
        { op: "test", path: "/a/c" },
      ],
      document,
    ],
    ["replaces the document", [{ op: "replace", path: "", value: { z: 1 } }], { z: 1 }],
    [
      "adds an ordinary __proto__",
      [{ op: "add", path: "/__proto__", value: { z: 1 } }],
      JSON.parse(
        '{"a":{"b":[1,2,3],"c":null,"x/y":1,"m~n":2},"d":"text","__proto__":{"z":1}}',
      ) as Json,
    ],
  ] as const satisfies readonly (readonly [string, Json, Json])[]) {
    test(what, () => assert.deepEqual(patched(document, patch), expected));
  }

  for (const operation of [
    { op: "test", path: "/d", value: "other" },
    { op: "test", path: "/a/b/9", value: null },
    { op: "remove", path: "/none" },
    { op: "remove", path: "/constructor" },
    { op: "remove", path: "/a/b/3" },
    { op: "add", path: "/a/b/5", value: 1 },
    { op: "add", path: "/a/b/x", value: 1 },
    { op: "add", path: "/a/c/x", value: 1 },
    { op: "add", path: "/d/x", value: 1 },
    { op: "add", path: "", value: 1 },
    { op: "replace", path: "", value: 1 },
    { op: "move", from: "/none", path: "/e" },
    { op: "move", from: "/a", path: "/a/b/x" },
    { op: "copy", from: "/a/b/9", path: "/e" },
    { op: "sing", path: "/e" },
    { path: "/e" },
  ]) {
    test(`says no more than that it cannot: ${JSON.stringify(operation)}`, () => {
      assert.deepEqual(
        failureOf(() => patched(document, [operation])),
        [422, "the server rejected our request due to an error in our request"],
      );
    });
  }

  for (const [patch, code, message] of [
    [
      {},
      400,
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ],
    [
      [1],
      400,
      "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
    ],
    [
      [{ op: 1 }],
      400,
      "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
    ],
    [
      Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a" })),
      413,
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    ],
  ] as const satisfies readonly (readonly [Json, number, string])[]) {
    test(message, () =>
      assert.deepEqual(
        failureOf(() => decodeJsonPatch(patch)),
        [code, message],
      ),
    );
  }

  test("reports fields that nobody knows", () => {
    assert.deepEqual(decodeJsonPatch([{ op: "test", path: "/a", foo: 1 }]).unknownFields, [
      'json patch unknown field "[0].foo"',
    ]);
  });

  test("copies no more than three megabytes", () => {
    const big = { a: "x".repeat(1 << 20) };
    const operations = Array.from({ length: 4 }, (_, i) => ({
      op: "copy",
      from: "/a",
      path: `/b${i}`,
    }));
    assert.equal(failureOf(() => patched(big, operations))[0], 422);
  });

  test("refuses to nest ever deeper", () => {
    const deepen = Array.from({ length: 1_000 }, () => ({
      op: "move",
      from: "/a",
      path: "/t",
    })).flatMap((move) => [
      move,
      { op: "add", path: "/a", value: {} },
      { op: "move", from: "/t", path: "/a/x" },
    ]);
    assert.equal(failureOf(() => patched({ a: {} }, deepen))[0], 400);
  });

  test("a long list changes as a short one would", () => {
    const places = fc.oneof(fc.nat(12_000), fc.constantFrom(0, 9_999, 10_000));
    const steps = fc.tuple(
      fc.constantFrom("add", "remove", "replace", "move", "copy"),
      places,
      places,
    );
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), (wanted) => {
        const list: Json[] = Array.from({ length: 10_000 }, (_, index) => index);
        const whole: Json[] = [];
        const patch: JsonObject[] = [];
        const before = [...list];
        for (const [n, [op, first, second]] of wanted.entries()) {
          const at = first % list.length;
          const to = second % list.length;
          const value = `v${n}`;
          const path = `/a/${at}`;
          patch.push({ op: "test", path, value: list[at] ?? null });
          if (op === "add") list.splice(at, 0, value);
          if (op === "remove") list.splice(at, 1);
          if (op === "replace") list[at] = value;
          if (op === "move") list.splice(to, 0, ...list.splice(at, 1));
          if (op === "copy") {
            // The whole list is what it looks like at any time.
            whole.splice(0, whole.length, ...list);
            patch.push({ op, from: "/a", path: "/whole" });
          } else if (op === "move") patch.push({ op, from: path, path: `/a/${to}` });
          else patch.push({ op, path, value });
        }
        assert.deepEqual(patched({ a: before, whole: [] }, patch), { a: list, whole });
      }),
      { numRuns: 50 },
    );
  });
});

suite("merge patch", () => {
  for (const [object, patch, expected] of [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ a: { b: "c" } }, { a: [1] }, { a: [1] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ a: [1] }, { a: [{ b: null, c: 1 }, null] }, { a: [{ c: 1 }, null] }],
    [{ a: { z: 1 } }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ] as const satisfies readonly (readonly [JsonObject, Json, JsonObject])[]) {
    test(`${JSON.stringify(object)} with ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(applyMergePatch(object, patch), expected);
    });
  }

  for (const [patch, message] of [
    [null, "Invalid JSON Patch"],
    [
      [],
      "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
    [
      "x",
      "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}",
    ],
    [
      new JsonNumber("1.0"),
      "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}",
    ],
  ] as const) {
    test(message, () =>
      assert.deepEqual(
        failureOf(() => applyMergePatch({}, patch)),
        [400, message],
      ),
    );
  }

  const values = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(1, "a", true, null),
      fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("value"), {
        noNullPrototype: true,
      }),
      // Objects in lists are another matter: their nulls go or stay by what the list replaces.
      fc.array(fc.constantFrom(1, "a", null), { maxLength: 2 }),
    ),
  })).value;
  const objects = fc.dictionary(fc.constantFrom("a", "b", "c"), values, { noNullPrototype: true });

  test("patching twice is patching once, and the object stays as it was", () => {
    fc.assert(
      fc.property(objects, objects, (object, patch) => {
        const before = JSON.stringify(object);
        const once = applyMergePatch(object, patch);
        assert.deepEqual(applyMergePatch(once, patch), once);
        assert.equal(JSON.stringify(object), before);
      }),
    );
  });

  test("an empty patch changes nothing", () => {
    fc.assert(
      fc.property(objects, (object) => assert.deepEqual(applyMergePatch(object, {}), object)),
    );
  });
});

suite("strategic merge patch", () => {
  const live = {
    metadata: { name: "web", finalizers: ["a", "b"], labels: { x: "1", y: "2" } },
    spec: {
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } },
      template: {
        spec: {
          containers: [
            { name: "one", image: "1", env: [{ name: "A", value: "1" }] },
            { name: "two", image: "2" },
          ],
          tolerations: [{ key: "k" }],
        },
      },
    },
  } as const;
  const apply = (patch: Json): JsonObject =>
    applyStrategicMergePatch(live, patch, deploymentSchema);
  const podOf = (object: JsonObject): JsonObject => {
    const { template } = object["spec"] as { template: { spec: JsonObject } };
    return template.spec;
  };
  const inPod = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });
  const names = (object: JsonObject): Json[] =>
    (podOf(object)["containers"] as readonly JsonObject[]).map((item) => item["name"] ?? null);

  test("merges items by their key, new ones first", () => {
    const object = apply(
      inPod({
        containers: [
          { name: "three", image: "3" },
          { name: "two", image: "9" },
        ],
      }),
    );
    assert.deepEqual(podOf(object)["containers"], [
      { name: "three", image: "3" },
      { name: "one", image: "1", env: [{ name: "A", value: "1" }] },
      { name: "two", image: "9" },
    ]);
  });

  test("deletes an item", () => {
    assert.deepEqual(names(apply(inPod({ containers: [{ name: "one", $patch: "delete" }] }))), [
      "two",
    ]);
  });

  test("replaces a list", () => {
    assert.deepEqual(names(apply(inPod({ containers: [{ name: "x" }, { $patch: "replace" }] }))), [
      "x",
    ]);
  });

  test("puts items into an order", () => {
    const patch = inPod({ "$setElementOrder/containers": [{ name: "two" }, { name: "one" }] });
    assert.deepEqual(names(apply(patch)), ["two", "one"]);
  });

  test("puts what it takes away and gives again behind what it does not name", () => {
    const schema: StructuralSchema = {
      properties: {
        secrets: {
          type: "array",
          items: { type: "object", properties: { name: { type: "string" } } },
          "x-kubernetes-patch-strategy": "merge",
          "x-kubernetes-patch-merge-key": "name",
        },
      },
    };
    const patched = applyStrategicMergePatch(
      { secrets: [{ name: "s2" }, { name: "s1" }, { name: "s3" }] },
      {
        secrets: [{ name: "s2" }, { $patch: "delete", name: "s2" }],
        "$setElementOrder/secrets": [{ name: "s2" }, { name: "s1" }],
      },
      schema,
    );
    assert.deepEqual(patched, { secrets: [{ name: "s3" }, { name: "s2" }, { name: "s1" }] });
  });

  test("replaces and deletes objects", () => {
    assert.deepEqual(
      (apply({ metadata: { labels: { z: "3", $patch: "replace" } } })["metadata"] as JsonObject)[
        "labels"
      ],
      { z: "3" },
    );
    assert.deepEqual(
      (apply({ metadata: { labels: { $patch: "delete" } } })["metadata"] as JsonObject)["labels"],
      {},
    );
  });

  test("retains only the keys it lists", () => {
    const patch = { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } };
    assert.deepEqual((apply(patch)["spec"] as JsonObject)["strategy"], { type: "Recreate" });
  });

  test("merges and takes from lists of scalars", () => {
    const finalizers = (patch: JsonObject): Json | undefined =>
      (apply({ metadata: patch })["metadata"] as JsonObject)["finalizers"];
    assert.deepEqual(finalizers({ finalizers: ["c", "a"] }), ["c", "a", "b"]);
    assert.deepEqual(finalizers({ "$deleteFromPrimitiveList/finalizers": ["a"] }), ["b"]);
  });

  test("replaces lists that do not merge", () => {
    assert.deepEqual(podOf(apply(inPod({ tolerations: [{ key: "z" }] })))["tolerations"], [
      { key: "z" },
    ]);
  });

  for (const [what, patch, code, message] of [
    [
      "an item without its key",
      inPod({ containers: [{ image: "x" }] }),
      500,
      "map: map[image:x] does not contain declared merge key: name",
    ],
    [
      "an unknown directive",
      { metadata: { $patch: "sing" } },
      500,
      "unknown patch type: sing in map: map[$patch:sing]",
    ],
    [
      "a directive of lists that does not exist",
      inPod({ containers: [{ $patch: "merge", name: "one" }] }),
      500,
      "merging lists cannot yet be specified in the patch",
    ],
    [
      "keys that are not retained",
      { spec: { strategy: { $retainKeys: [], type: "x" } } },
      400,
      "invalid patch format of retainKeys",
    ],
    [
      "an order of nothing",
      { $setElementOrder: [] },
      400,
      "invalid patch format of setElementOrder list",
    ],
    [
      "a deletion from nothing",
      { $deleteFromPrimitiveList: [] },
      400,
      "invalid patch format of primitive list",
    ],
    [
      "a list where an object belongs",
      [],
      400,
      "json: cannot unmarshal array into Go value of type map[string]interface {}",
    ],
  ] as const satisfies readonly (readonly [string, Json, number, string])[]) {
    test(`refuses ${what}`, () =>
      assert.deepEqual(
        failureOf(() => apply(patch)),
        [code, message],
      ));
  }

  test("leaves the object and the patch as they were", () => {
    const before = JSON.stringify(live);
    const patch = inPod({
      containers: [
        { name: "one", $patch: "delete" },
        { name: "x", env: [] },
      ],
    });
    const said = JSON.stringify(patch);
    apply(patch);
    assert.deepEqual([JSON.stringify(live), JSON.stringify(patch)], [before, said]);
  });
});
