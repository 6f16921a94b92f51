import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson, type MutableJson } from "@keelson/base";
import { goJson } from "./go-json.ts";

// Written by Go 1.26: decoded as Kubernetes decodes, encoded with `encoding/json`.
const texts: readonly (readonly [sent: string, written: string])[] = [
  ["1", "1"],
  ["1.0", "1"],
  ["1e3", "1000"],
  ["-0", "0"],
  ["-0.0", "-0"],
  ["0.1", "0.1"],
  ["1e20", "100000000000000000000"],
  ["1e21", "1e+21"],
  ["1e-6", "0.000001"],
  ["1e-7", "1e-7"],
  ["9223372036854775807", "9223372036854775807"],
  ["18446744073709551616", "18446744073709552000"],
  ['"<a&b>"', String.raw`"\u003ca\u0026b\u003e"`],
  [String.raw`"\ud800"`, '"\ufffd"'],
  [String.raw`"\\ud800"`, String.raw`"\\ud800"`],
  [String.raw`"\u2028\b\f\u0001\u007f"`, `"\\u2028\\b\\f\\u0001\u007f"`],
  [
    '{"b":[1.0,{}],"a":null,"\u{10000}":1,"\uffff":true}',
    '{"a":null,"b":[1,{}],"\uffff":true,"\u{10000}":1}',
  ],
];

test("values are written as Go writes them", () => {
  assert.deepEqual(
    texts.map(([sent]) => [sent, goJson(readJson(sent))]),
    texts.map((pair) => [...pair]),
  );
});

test("a value may be nested more deeply than calls may be", () => {
  const depth = 100_000;
  let value: MutableJson = 1;
  for (let level = 0; level < depth; level++) value = [value];
  assert.equal(goJson(value), `${"[".repeat(depth)}1${"]".repeat(depth)}`);
});
