import assert from "node:assert/strict";
import { test } from "node:test";

import {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  setMember,
  type MutableJsonObject,
} from "./json.ts";

test("a JsonNumber keeps its text and computes as the nearest number", () => {
  const number = new JsonNumber("1.50");
  assert.equal(number.text, "1.50");
  assert.equal(String(number), "1.50");
  assert.equal(Number(number), 1.5);
  assert.equal(Number(new JsonNumber("1e400")), Infinity);
});

for (const text of ["", "x", "01", "1.", ".5", "+1", "1e", " 1", "1 ", "NaN", "0x1"]) {
  test(`a JsonNumber refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => new JsonNumber(text), RangeError);
  });
}

test("JSON.stringify refuses a JsonNumber instead of changing its text", () => {
  assert.throws(() => JSON.stringify({ a: new JsonNumber("1.0") }), TypeError);
});

test("arrays, null and numbers are not objects", () => {
  const values = [{}, [], null, 1, 1n, "a", true, new JsonNumber("1.0"), undefined];
  assert.deepEqual(
    values.map((value) => isJsonObject(value)),
    [true, ...Array.from({ length: 8 }, () => false)],
  );
  assert.deepEqual(
    values.map((value) => isJsonArray(value)),
    [false, true, ...Array.from({ length: 7 }, () => false)],
  );
});

test("setMember makes __proto__ an ordinary member that can be replaced and deleted", () => {
  const object: MutableJsonObject = {};
  setMember(object, "__proto__", { a: 1 });
  setMember(object, "__proto__", { a: 2 });
  assert.equal(JSON.stringify(object), '{"__proto__":{"a":2}}');
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
  assert.ok(Reflect.deleteProperty(object, "__proto__"));
  assert.deepEqual(Object.keys(object), []);
});
