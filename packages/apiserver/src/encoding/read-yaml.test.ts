import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { writeJson } from "@keelson/base";

import { readYaml, YamlError } from "./read-yaml.ts";

/** YAML as it comes, and the JSON that Go makes of it. */
const cases: readonly (readonly [string, string, string])[] = [
  ["nothing", "", "null"],
  ["words of YAML 1.1", "a: yes\nb: off\nc: 'yes'", '{"a":true,"b":false,"c":"yes"}'],
  ["octal and hexadecimal", "a: 010\nb: 0x1F", '{"a":8,"b":31}'],
  ["integers beyond a double", "a: 9007199254740993", '{"a":9007199254740993}'],
  [
    "integers in every base, up to 64 bits",
    "a: 0o17\nb: 0b11\nc: -0x10\nd: +12\ne: 1_000\nf: 9223372036854775808\ng: -9223372036854775808",
    '{"a":15,"b":3,"c":-16,"d":12,"e":1000,"f":9223372036854775808,"g":-9223372036854775808}',
  ],
  [
    "what is only almost a number",
    "a: 08\nb: 1e3\nc: 1.\nd: .5\ne: 1e\nf: 0x\ng: 1-2\nh: ._5\ni: 12:30\nj: 1e999",
    '{"a":8,"b":1000,"c":1,"d":0.5,"e":"1e","f":"0x","g":"1-2","h":"._5","i":"12:30","j":"1e999"}',
  ],
  [
    "tags",
    "a: !!str 1\nb: !!int \"1\"\nc: !!float 1\nd: !!binary aGk=\ne: ! 1\nf: !mine x\ng: !!null ''",
    '{"a":"1","b":1,"c":1,"d":"hi","e":"1","f":"x","g":null}',
  ],
  ["blocks", "a: |\n  x\n  y\nb: >-\n  x\n  y", '{"a":"x\\ny\\n","b":"x y"}'],
  ["aliases, also as keys", "a: &x k\n*x : 1\nb: [*x, *x]", '{"a":"k","k":1,"b":["k","k"]}'],
  ["the first document only", "a: 1\n---\nb: 2", '{"a":1}'],
  ["keys that are no text", "1: a\ntrue: b", '{"1":"a","true":"b"}'],
  ["times, which stay texts", "a: 2026-01-01", '{"a":"2026-01-01"}'],
  ["JSON", '{"a": [1, 2.5, null]}', '{"a":[1,2.5,null]}'],
  ["a merge", "a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}", '{"a":{"k":1,"l":2},"b":{"l":2,"k":3}}'],
  [
    "brackets that are text",
    `a: "${"[".repeat(600)}"\nb: x${"[".repeat(600)}`,
    `{"a":"${"[".repeat(600)}","b":"x${"[".repeat(600)}"}`,
  ],
  [
    "many members on one line",
    `{${Array.from({ length: 900 }, (_, at) => `k${at}: {a: [1]}`).join(", ")}}`,
    `{${Array.from({ length: 900 }, (_, at) => `"k${at}":{"a":[1]}`).join(",")}}`,
  ],
  ["a member called __proto__", "__proto__: {a: 1}", '{"__proto__":{"a":1}}'],
];

suite("YAML bodies", () => {
  for (const [name, text, expected] of cases) {
    test(`hold ${name}`, () => {
      const sorted = (json: string): unknown => JSON.parse(json);
      assert.deepEqual(sorted(writeJson(readYaml(text).value)), sorted(expected));
    });
  }

  test("say which keys stand there twice, and the last one counts", () => {
    assert.deepEqual(readYaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3"), {
      value: { a: 3, b: { c: 2 } },
      duplicates: ['line 4: key "c" already set in map', 'line 5: key "a" already set in map'],
    });
    const { duplicates } = readYaml("a:\n  b: 1\na:\n  c: 1");
    assert.deepEqual(duplicates, ['line 4: key "a" already set in map']);
  });

  const bombs: readonly (readonly [string, string])[] = [
    [
      "aliases of aliases",
      ["a: &a0 [x,x,x,x,x,x,x,x,x,x]"]
        .concat(
          Array.from({ length: 9 }, (_, level) => {
            const list = Array.from({ length: 10 }, () => `*a${level}`).join(",");
            return `b${level}: &a${level + 1} [${list}]`;
          }),
        )
        .join("\n"),
    ],
    ["depth", `${"[".repeat(1_500_000)}${"]".repeat(1_500_000)}`],
    ["depth on one line", "- ".repeat(1_500_000)],
    ["depth of maps", "{a: ".repeat(700_000)],
    [
      "depth by indentation",
      Array.from({ length: 2_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
    ],
    ["no YAML", "a: [1"],
    ["an anchor that is not there", "a: *nothing"],
    ["an anchor inside itself", "a: &a [*a, *a]"],
    ["a merge of no map", "a: {<<: 1}"],
    ["a tag that does not fit", "a: !!int x"],
    ["a key that is nothing", "~: 1"],
    ["a key that is a list", "? [a]\n: 1"],
    ["a number that JSON has none of", "a: .inf"],
  ];
  for (const [name, text] of bombs) {
    test(`that are bad by ${name} fail soon, and say so`, () => {
      assert.throws(() => readYaml(text), YamlError);
    });
  }
});
