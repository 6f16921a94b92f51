// What the properties of JSON draw from: every kind of value, and keys few enough to collide.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { isJsonArray, isJsonObject, JsonNumber, setMember } from "./json.ts";
import type { Json, MutableJsonObject } from "./json.ts";

/** Keys that collide, that JavaScript treats specially, and a few others. */
export const anyKey: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "c", "1", "") },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "toString", "toJSON") },
);

const anyNumber: fc.Arbitrary<Json> = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((number) => !Number.isInteger(number) || Math.abs(number) >= 1e21),
  fc
    .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    .filter((integer) => !Number.isSafeInteger(Number(integer))),
  fc
    .constantFrom("-0", "1.0", "1e3", "1.10", "1E+2", "1e400", "-1e-400", "18446744073709551616")
    .map((text) => new JsonNumber(text)),
);

/** Any value that `readJson` can return. */
export const anyJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json; array: Json[]; object: Json }>(
  (tie) => ({
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(null, true, false),
      fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "__proto__")),
      anyNumber,
      tie("array"),
      tie("object"),
    ),
    array: fc.array(tie("json"), { maxLength: 4 }),
    object: fc.array(fc.tuple(anyKey, tie("json")), { maxLength: 5 }).map((members) => {
      const object: MutableJsonObject = {};
      for (const [key, value] of members) setMember(object, key, value as MutableJsonObject);
      return object;
    }),
  }),
).json;

test("the properties of JSON meet every kind of value", () => {
  const kinds = new Set(
    fc.sample(anyJson, { numRuns: 500, seed: 1 }).map((value) => {
      if (value === null) return "null";
      if (value instanceof JsonNumber) return "JsonNumber";
      if (isJsonArray(value)) return "array";
      return isJsonObject(value) ? "object" : typeof value;
    }),
  );
  assert.deepEqual([...kinds].sort(), [
    "JsonNumber",
    "array",
    "bigint",
    "boolean",
    "null",
    "number",
    "object",
    "string",
  ]);
});
