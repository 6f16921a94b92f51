import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { anyJson } from "./any-json.test.ts";
import { jsonEqual, jsonSame } from "./json-equal.ts";
import { isJsonArray, isJsonObject, JsonNumber, type Json } from "./json.ts";
import { readJson } from "./read-json.ts";
import { writeJson } from "./write-json.ts";

suite("jsonEqual", () => {
  const pairs: readonly (readonly [a: Json, b: Json, equal: boolean])[] = [
    [1, 1, true],
    [1, new JsonNumber("1"), true],
    [1, new JsonNumber("1.0"), false],
    [0, new JsonNumber("-0"), false],
    [2 ** 53, 2n ** 53n, true],
    [1, "1", false],
    [null, false, false],
    [[], {}, false],
    [[1, 2], [2, 1], false],
    [[1], [1, 1], false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [{ a: null }, {}, false],
    [{ a: undefined } as unknown as Json, {}, true],
    [{ constructor: 1 }, {}, false],
    [readJson('{"__proto__":{}}'), {}, false],
    [{}, readJson('{"__proto__":{}}'), false],
    [new JsonNumber("1.0"), { text: "1.0" }, false],
  ];
  for (const [a, b, equal] of pairs) {
    test(`${writeJson(a)} and ${writeJson(b)} are ${equal ? "equal" : "different"}`, () => {
      assert.equal(jsonEqual(a, b), equal);
      assert.equal(jsonEqual(b, a), equal);
    });
  }

  test("is true exactly when both would be written alike with their keys in order", () => {
    fc.assert(
      fc.property(anyJson, anyJson, (a, b) => {
        assert.equal(jsonEqual(a, b), canonical(a) === canonical(b));
        assert.ok(jsonEqual(a, readJson(writeJson(a))));
      }),
    );
  });

  test("compares values of any depth", () => {
    const text = '[{"a":'.repeat(50_000) + "1.0" + "}]".repeat(50_000);
    const options = { depthMax: 100_000 };
    assert.ok(jsonEqual(readJson(text, options), readJson(text, options)));
    assert.ok(!jsonEqual(readJson(text, options), readJson(text.replace("1.0", "1.00"), options)));
  });
});

suite("jsonSame", () => {
  const alike: readonly (readonly string[])[] = [
    ["0", "-0", "0.0", "0e9", "-0.000e-7"],
    ["100", "1e2", "1E+2", "100.00", "0.1e3", "1000e-1"],
    ["-0.0015", "-1.5e-3", "-0.15E-2", "-15e-4"],
    ["9007199254740993", "9007199254740993.0", "9007199254740.993e3"],
    ["1e400", "10e399"],
    ["1e-400"],
    ["9007199254740992"],
    ["15e-4"],
    ["1"],
  ];
  test("holds of numbers that are equal, however they are written, and of no others", () => {
    for (const [group, texts] of alike.entries()) {
      for (const a of texts) {
        for (const [other, others] of alike.entries()) {
          for (const b of others) {
            const [left, right] = [readJson(`{"a":[${a}]}`), readJson(`{"a":[${b}]}`)];
            assert.equal(jsonSame(left, right), group === other, `${a} and ${b}`);
          }
        }
      }
    }
    assert.ok(!jsonSame(1, "1") && !jsonSame(0, null) && !jsonSame(0, []));
  });

  test("holds of whatever is equal", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        assert.ok(jsonSame(value, readJson(writeJson(value))));
      }),
    );
  });
});

function canonical(value: Json): string {
  if (isJsonArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isJsonObject(value)) return writeJson(value);
  const members = Object.entries(value).map(([key, member]) => [
    JSON.stringify(key),
    canonical(member),
  ]);
  return `{${members
    .map((member) => member.join(":"))
    .sort()
    .join(",")}}`;
}
