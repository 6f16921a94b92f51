import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { Json, JsonObject } from "@keelson/base";
import * as fc from "fast-check";

import { FieldSet, printPath, type PathStep } from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1 } from "./fields-v1.ts";
import { BadPathElement, indexElement, keyElement, valueElement } from "./item-element.ts";
import { OwnedFields } from "./owned-fields.ts";

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom("a", "b", "ü<&>", '"q"', "\ud83d\ude00"),
  fc.integer({ min: -3, max: 3 }),
  fc.boolean(),
);
const step: fc.Arbitrary<PathStep> = fc.oneof(
  fc.constantFrom("a", "b", "c", "x/y", "__proto__", ""),
  fc
    .uniqueArray(fc.tuple(fc.constantFrom("name", "port"), scalar), {
      selector: ([name]) => name,
      minLength: 1,
    })
    .map(keyElement),
  scalar.map(valueElement),
  fc.nat(3).map(indexElement),
);
const paths = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 8 });
const sets = paths.map((list) => FieldSet.of(...list));

function texts(set: FieldSet): string[] {
  return [...set.paths()].map(printPath).sort();
}

suite("field sets", () => {
  test("survive being stored", () => {
    fc.assert(
      fc.property(sets, (set) => {
        const stored = encodeFieldsV1(set);
        assert.deepEqual(texts(decodeFieldsV1(stored)), texts(set));
        assert.equal(
          JSON.stringify(encodeFieldsV1(decodeFieldsV1(stored))),
          JSON.stringify(stored),
        );
      }),
    );
  });

  test("union, intersection and difference are those of sets of paths", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const left = new Set(texts(a));
        const right = new Set(texts(b));
        assert.deepEqual(texts(a.union(b)), [...left.union(right)].sort());
        assert.deepEqual(texts(a.intersection(b)), [...left.intersection(right)].sort());
        assert.deepEqual(texts(a.difference(b)), [...left.difference(right)].sort());
        assert.equal(a.isEmpty, left.size === 0);
      }),
    );
  });

  test("a recursive difference takes what is below too", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const taken = [...b.paths()];
        const rest = [...a.paths()].filter(
          (path) =>
            !taken.some((gone) => printPath(path.slice(0, gone.length)) === printPath(gone)),
        );
        assert.deepEqual(texts(a.recursiveDifference(b)), rest.map(printPath).sort());
      }),
    );
  });

  test("the stored form answers as the set does", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const owned = OwnedFields.trust(encodeFieldsV1(a));
        assert.deepEqual(texts(owned.intersection(b)), texts(a.intersection(b)));
        assert.equal(
          JSON.stringify(owned.difference(b).stored),
          JSON.stringify(encodeFieldsV1(a.difference(b))),
        );
        assert.equal(owned.isWithin(b), a.difference(b).isEmpty);
        assert.deepEqual(texts(owned.union(b).set), texts(a.union(b)));
        assert.equal(owned.union(b) === owned, b.difference(a).isEmpty);
        assert.equal(owned.equals(b), jsonOf(a) === jsonOf(b));
        assert.equal(OwnedFields.trust(encodeFieldsV1(a)).isEmpty, a.isEmpty);
      }),
    );
  });

  test("are written in the order of Kubernetes", () => {
    const set = FieldSet.of(
      ["b"],
      ["a", keyElement([["port", 443]])],
      ["a", keyElement([["port", 80]])],
      ["a", valueElement("x")],
      ["a", indexElement(1)],
      ["a"],
    );
    assert.equal(
      JSON.stringify(encodeFieldsV1(set)),
      '{"f:a":{".":{},"k:{\\"port\\":80}":{},"k:{\\"port\\":443}":{},"v:\\"x\\"":{},"i:1":{}},"f:b":{}}',
    );
  });

  for (const [text, stored] of [
    ["an unknown kind of key is passed over", { "z:new": {}, "f:a": {} }],
    ["a leaf may say so", { "f:a": { ".": {} } }],
    ["null is a leaf", { "f:a": null }],
  ] as const satisfies readonly (readonly [string, JsonObject])[]) {
    test(text, () => {
      assert.deepEqual(encodeFieldsV1(decodeFieldsV1(stored)), { "f:a": {} });
      assert.deepEqual(OwnedFields.read(stored).stored, { "f:a": {} });
    });
  }

  for (const stored of [
    { f: {} },
    { "k:": {} },
    { "k:{": {} },
    { "k:[]": {} },
    { "i:x": {} },
    { "f:a": 1 },
  ]) {
    test(`refuses ${JSON.stringify(stored)}`, () => {
      assert.throws(() => decodeFieldsV1(stored), BadPathElement);
      assert.throws(() => OwnedFields.read(stored), BadPathElement);
    });
  }
});

function jsonOf(set: FieldSet): string {
  return JSON.stringify(encodeFieldsV1(set));
}
