import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { anyJson } from "./any-json.test.ts";
import { cloneJson } from "./clone-json.ts";
import { isJsonArray, isJsonObject, type Json } from "./json.ts";
import { readJson } from "./read-json.ts";
import { writeJson } from "./write-json.ts";

suite("cloneJson", () => {
  test("copies any value, keys in their order", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const before = writeJson(value);
        const copy = cloneJson(value);
        assert.deepEqual(copy, value);
        assert.equal(writeJson(copy), before);
      }),
    );
  });

  test("shares no array and no object", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const originals = containersOf(value);
        for (const container of containersOf(cloneJson(value)))
          assert.ok(!originals.has(container));
      }),
    );
  });

  test("copies values of any depth", () => {
    const text = "[".repeat(100_000) + "]".repeat(100_000);
    assert.equal(writeJson(cloneJson(readJson(text, { depthMax: 100_000 }))), text);
  });
});

function containersOf(value: Json, found = new Set<Json>()): Set<Json> {
  if (isJsonArray(value) || isJsonObject(value)) {
    found.add(value);
    for (const member of Object.values(value)) containersOf(member, found);
  }
  return found;
}
