import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { readJson, type Json } from "@keelson/base";
import { JsonPath } from "./evaluate.ts";
import { JsonPathError } from "./parse.ts";

const object: Json = {
  spec: {
    list: [{ name: "a", n: 1 }, { name: "b", n: 2 }, { name: "c" }],
    "a.b": 1,
    map: { y: 2, x: 1 },
  },
};

suite("JSON paths", () => {
  const cases: readonly [path: string, found: Json[]][] = [
    [".spec.map.x", [1]],
    [".spec.missing.x", []],
    [".spec.map.*", [1, 2]],
    [".spec.a\\.b", [1]],
    [".spec.list[0].name", ["a"]],
    [".spec.list[-1].name", ["c"]],
    [".spec.list[0:2].name", ["a", "b"]],
    [".spec.list[::2].name", ["a", "c"]],
    [".spec.list[*].n", [1, 2]],
    [".spec.list[0,2].name", ["a", "c"]],
    ["..name", ["a", "b", "c"]],
    ['.spec.list[?(@.name=="b")].n', [2]],
    [".spec.list[?(@.n>1)].name", ["b"]],
    [".spec.list[?(@.n)].name", ["a", "b"]],
    ["$.spec['map'].y", [2]],
  ];
  for (const [path, found] of cases) {
    test(`${path} finds what it should`, () =>
      assert.deepEqual(new JsonPath(path).find(object), found));
  }

  for (const path of [".spec.list[", ".spec[?(@.a]", "....a", ".a['b", ".a[x]", "^"]) {
    test(`${path} cannot be read`, () => assert.throws(() => new JsonPath(path), JsonPathError));
  }

  test("what cannot be followed is an error of its own", () => {
    assert.throws(() => new JsonPath(".spec.list[9]").find(object), /index 9, length 3/);
    assert.throws(() => new JsonPath(".spec.map[0]").find(object), JsonPathError);
  });

  test("neither depth nor breadth overflows", () => {
    const deep = readJson(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, { depthMax: 20_000 });
    assert.equal(new JsonPath("..a").find(deep).length, 10_000);
    const wide = Array.from({ length: 200_000 }, () => [1]);
    assert.throws(() => new JsonPath("..*").find(wide), JsonPathError);
  });
});
