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
    ["a number that JSON has none of", "a: .inf"],
  ];
  for (const [name, text] of bombs) {
    test(`that are bad by ${name} fail soon, and say so`, () => {
      assert.throws(() => readYaml(text), YamlError);
    });
  }
});
