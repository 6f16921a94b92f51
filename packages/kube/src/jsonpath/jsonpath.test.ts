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

  for (const [path, message] of [
    ["50%", "unrecognized character in action: U+0025 '%'"],
    ["a *", "unrecognized character in action: U+002A '*'"],
    ["\u{1f600}", "unrecognized character in action: U+1F600 '\u{1f600}'"],
    ["\u0007", "unrecognized character in action: U+0007"],
    ["a\n", "unclosed action"],
    ["10.0.0.1", "cannot parse number 10.0.0.1"],
    [`1${"0".repeat(400)}`, `cannot parse number 1${"0".repeat(400)}`],
  ] as const) {
    test(`${JSON.stringify(path)} is refused in the words of the real server`, () =>
      assert.throws(() => new JsonPath(path), { message }));
  }

  test("a word that stands alone is told when the path is followed", () => {
    const path = new JsonPath("word.of.no.meaning");
    assert.throws(() => path.find(object), { message: "unrecognized identifier word" });
  });

  test("what cannot be followed is an error of its own", () => {
    assert.throws(() => new JsonPath(".spec.list[9]").find(object), /index 9, length 3/);
    assert.throws(() => new JsonPath(".spec.map[0]").find(object), JsonPathError);
  });

  test("integers are compared exactly, and not with floats", () => {
    const ids = readJson('{"ids":[9007199254740992,9007199254740993,-9223372036854775808]}');
    const found = (filter: string): Json => new JsonPath(`.ids[?(@${filter})]`).find(ids);
    assert.deepEqual(found("==9007199254740993"), [9_007_199_254_740_993n]);
    assert.deepEqual(found(">9007199254740992"), [9_007_199_254_740_993n]);
    assert.deepEqual(found("<-9007199254740993"), [-9_223_372_036_854_775_808n]);
    assert.throws(() => found("==1.0"), /incompatible types/);
  });

  test("what is found again and again is given up before it fills memory", () => {
    const deep = readJson(
      `${'{"a":'.repeat(500)}${JSON.stringify(wideList(50_000))}${"}".repeat(500)}`,
    );
    assert.throws(() => new JsonPath("..*..*").find(deep), JsonPathError);
  });

  test("a long path through a long list is given up before it takes for ever", () => {
    const lists = { list: wideList(10_000) };
    const union = (part: string): string => `[${Array<string>(1_000).fill(part).join(",")}]`;
    for (const path of [
      `.list${union("*")}`,
      `.list[*]${union("'a'")}`,
      `.list[*]${'"a"'.repeat(1_000)}`,
      `.list[?(@${'"a"'.repeat(1_000)})]`,
    ]) {
      const found = new JsonPath(path);
      assert.throws(() => found.find(lists), /finds too much/, path.slice(0, 20));
    }
  });

  test("neither depth nor breadth overflows", () => {
    const deep = readJson(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, { depthMax: 20_000 });
    assert.equal(new JsonPath("..a").find(deep).length, 10_000);
    assert.throws(() => new JsonPath("..*").find(wideList(1_000_000)), JsonPathError);
    assert.equal(new JsonPath("..").find([Array.from({ length: 1_000_000 }, () => 1)]).length, 2);
  });
});

function wideList(length: number): Json {
  return Array.from({ length }, () => [1]);
}
