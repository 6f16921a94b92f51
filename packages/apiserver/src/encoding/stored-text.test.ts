import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { readJson, writeJson, type JsonObject } from "@keelson/base";
import * as fc from "fast-check";

import { inStoredOrder, objectWithRevision, partsOfListItem, withRevision } from "./stored-text.ts";

const names = fc.constantFrom(
  "spec",
  "data",
  "0",
  "12",
  "__proto__",
  "constructor",
  "",
  "ü",
  '"',
  "metadata2",
);
const leaf = fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.integer());
const members = fc.array(fc.tuple(names, fc.oneof(leaf, fc.dictionary(names, leaf))), {
  maxLength: 5,
});

/** An object by its text: `__proto__` is a member like any other. */
const stored = fc.tuple(members, members, fc.boolean()).map(([inside, beside, hasKind]) => {
  const text = (list: readonly (readonly [string, unknown])[]): string[] =>
    list.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const type = hasKind ? ['"kind":"K"', '"apiVersion":"g/v1"'] : [];
  return readJson(
    `{${[...text(beside), ...type, `"metadata":{${text(inside).join(",")}}`].join(",")}}`,
  ) as JsonObject;
});

suite("the text of a stored object", () => {
  test("with its revision is the text of the object with its revision", () => {
    fc.assert(
      fc.property(stored, fc.integer({ min: 1 }), (object, revision) => {
        const ordered = inStoredOrder(object);
        const text = writeJson(ordered);
        assert.deepEqual(
          readJson(withRevision(text, revision)),
          readJson(writeJson(objectWithRevision(ordered, revision))),
        );
        const item = readJson(partsOfListItem(text, revision).join("")) as JsonObject;
        const {
          apiVersion: _,
          kind: _kind,
          ...rest
        } = readJson(writeJson(objectWithRevision(ordered, revision))) as JsonObject;
        assert.deepEqual(item, rest);
      }),
    );
  });

  test("holds no revision of its own, and begins with what it is", () => {
    const object = {
      "7": "first",
      metadata: { name: "a", resourceVersion: "3" },
      kind: "K",
      spec: {},
    };
    assert.equal(
      writeJson(inStoredOrder(object)),
      '{"7":"first","apiVersion":"","kind":"K","metadata":{"name":"a"},"spec":{}}',
    );
  });

  test("is not taken in by metadata in a kind, nor by names that are numbers", () => {
    const tricky = readJson(
      '{"1":{"metadata":{"x":1}},"apiVersion":"v1","kind":"K","metadata":{},"__proto__":{"a":1}}',
    ) as JsonObject;
    const text = writeJson(inStoredOrder(tricky));
    assert.equal(
      withRevision(text, 5),
      '{"1":{"metadata":{"x":1}},"apiVersion":"v1","kind":"K","metadata":{"resourceVersion":"5"},"__proto__":{"a":1}}',
    );
  });
});
