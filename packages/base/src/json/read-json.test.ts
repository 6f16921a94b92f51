import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { anyJson, anyKey } from "./any-json.test.ts";
import { JsonSyntaxError } from "./json-syntax-error.ts";
import { JsonNumber, type Json } from "./json.ts";
import { readJson, readJsonReport } from "./read-json.ts";
import { writeJson } from "./write-json.ts";

suite("readJson", () => {
  const numbers: readonly (readonly [text: string, value: Json])[] = [
    ["0", 0],
    ["-1", -1],
    ["0.5", 0.5],
    ["-12.25", -12.25],
    ["1e+21", 1e21],
    ["5e-324", 5e-324],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
    ["-9007199254740991", Number.MIN_SAFE_INTEGER],
    ["9007199254740992", 9007199254740992n],
    ["9223372036854775807", 2n ** 63n - 1n],
    ["-9223372036854775808", -(2n ** 63n)],
    ["9223372036854775808", new JsonNumber("9223372036854775808")],
    ["-9223372036854775809", new JsonNumber("-9223372036854775809")],
    ["100000000000000000000", new JsonNumber("100000000000000000000")],
    ["-0", new JsonNumber("-0")],
    ["-0.0", new JsonNumber("-0.0")],
    ["1.0", new JsonNumber("1.0")],
    ["1.10", new JsonNumber("1.10")],
    ["1e3", new JsonNumber("1e3")],
    ["1E3", new JsonNumber("1E3")],
    ["1e400", new JsonNumber("1e400")],
    ["-1e400", new JsonNumber("-1e400")],
    ["1e-400", new JsonNumber("1e-400")],
    ["0.1234567890123456789", new JsonNumber("0.1234567890123456789")],
  ];
  for (const [text, value] of numbers) {
    test(`reads and writes ${text} without loss`, () => {
      assert.deepEqual(readJson(text), value);
      assert.deepEqual(readJson(`{"a": [ ${text} ]}`), { a: [value] });
      assert.equal(writeJson(readJson(text)), text);
    });
  }

  test("agrees with JSON.parse about any text that is written without special numbers", () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        const value = readJson(text);
        assert.deepEqual(JSON.parse(writeJson(value)), JSON.parse(text));
      }),
    );
  });

  test("accepts exactly the texts that JSON.parse accepts", () => {
    const pieces =
      '{ } [ ] : , " \\ \\u \\n 0 1 -1 1.5 1. .5 1e e5 -0 01 true tru null x \t \u0000 "a" "b":';
    const soup = fc.array(fc.constantFrom(...pieces.split(" "), " "), { maxLength: 9 });
    fc.assert(
      fc.property(soup, (parts) => {
        const text = parts.join("");
        assert.equal(
          outcome(() => readJson(text)),
          outcome(() => JSON.parse(text)),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  test("gives back what writeJson wrote", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        assert.deepEqual(readJson(writeJson(value)), value);
        const report = { value, duplicates: [], membersBefore: [] };
        assert.deepEqual(readJsonReport(writeJson(value)), report);
      }),
    );
  });

  test("reads __proto__ and constructor as ordinary keys", () => {
    for (const text of [
      '{"__proto__":{"polluted":true},"constructor":1}',
      '{"__proto__":{"polluted":true},"constructor":1e0}',
      '{"__proto__":1e0,"__proto__":{"polluted":true},"constructor":1}',
    ]) {
      const value = readJson(text);
      assert.deepEqual(Object.keys(Object(value)), ["__proto__", "constructor"]);
      assert.equal(Object.getPrototypeOf(value), Object.prototype);
      assert.equal(({} as { polluted?: boolean }).polluted, undefined);
      assert.equal("polluted" in Object(value), false);
    }
  });

  test("keeps lone surrogates and every escape, on both roads", () => {
    const texts = [
      '"\\ud800"',
      '"\ud800x"',
      '"\\u0000\\b\\f\\n\\r\\t\\"\\\\\\/\\u00e9"',
      '"\u2028é😀"',
    ];
    for (const text of texts) {
      assert.deepEqual(readJson(text), JSON.parse(text));
      assert.deepEqual(readJson(`[1.0,${text}]`), [new JsonNumber("1.0"), JSON.parse(text)]);
    }
  });

  const refusals: readonly (readonly [text: string, message: string])[] = [
    ["", "expected a value at line 1, column 1, found the end of the text"],
    ["nul", 'expected a value at line 1, column 1, found "n"'],
    ["[1,]", 'expected a value at line 1, column 4, found "]"'],
    ["[1 2]", 'expected "," or "]" at line 1, column 4, found "2"'],
    ['{"a":1', 'expected "," or "}" at line 1, column 7, found the end of the text'],
    ['{\n  "a": 1,\n}', 'expected a key at line 3, column 1, found "}"'],
    ["{a:1}", 'expected a key or "}" at line 1, column 2, found "a"'],
    ['{"a" 1}', 'expected ":" at line 1, column 6, found "1"'],
    ["1 2", 'expected the end of the text at line 1, column 3, found "2"'],
    ["01", 'expected the end of the text at line 1, column 2, found "1"'],
    ["-", "expected a digit at line 1, column 2, found the end of the text"],
    ["1.", "expected a digit at line 1, column 3, found the end of the text"],
    ["1e+", "expected a digit at line 1, column 4, found the end of the text"],
    ["+1", 'expected a value at line 1, column 1, found "+"'],
    ["NaN", 'expected a value at line 1, column 1, found "N"'],
    ['"abc', 'expected "\\"" at line 1, column 5, found the end of the text'],
    ['"a\nb"', 'expected a character or "\\"" at line 1, column 3, found "\\n"'],
    ['"a\\x"', 'expected an escape sequence at line 1, column 4, found "x"'],
    ['"\\u12"', 'expected an escape sequence at line 1, column 3, found "u"'],
    ["\ufeff1", 'expected a value at line 1, column 1, found "\ufeff"'],
  ];
  for (const [text, message] of refusals) {
    test(`refuses ${JSON.stringify(text)}, saying where`, () => {
      assert.throws(() => readJson(text), {
        name: "JsonSyntaxError",
        code: "JSON_SYNTAX",
        message,
      });
    });
  }

  test("a refusal knows its offset, line and column", () => {
    assert.throws(() => readJson('{"a": 1,\n "b" 2}'), { offset: 14, line: 2, column: 6 });
  });

  test("allows exactly depthMax levels", () => {
    assert.deepEqual(readJson('[{"a":[]}]', { depthMax: 3 }), [{ a: [] }]);
    assert.throws(() => readJson('[{"a":[]}]', { depthMax: 2 }), {
      code: "JSON_TOO_DEEP",
      message: "nested more than 2 deep at line 1, column 7",
    });
  });
});

suite("readJson with hostile texts", () => {
  test("refuses a depth of 100,000 unless it is allowed, and then reads and writes it", () => {
    const depth = 100_000;
    for (const leaf of ["1", "1.0"]) {
      for (const [open, close] of [
        ["[", "]"],
        ['{"a":', "}"],
      ] as const) {
        const text = open.repeat(depth) + leaf + close.repeat(depth);
        assert.throws(() => readJson(text), { code: "JSON_TOO_DEEP" });
        assert.throws(() => readJson(text.slice(0, -depth)), JsonSyntaxError);
        assert.equal(writeJson(readJson(text, { depthMax: depth })), text);
        assert.deepEqual(readJsonReport(text, { depthMax: depth }).duplicates, []);
      }
    }
  });

  const large = 2_000_000;
  const texts: readonly (readonly [name: string, text: string])[] = [
    ["a string of 10 MB", `["${"x".repeat(10_000_000)}",1.0]`],
    ["2 MB of backslashes", `["${"\\".repeat(large)}",1.0]`],
    ["2 MB of escaped quotes", `["${'\\"'.repeat(large / 2)}",1.0]`],
    ["an integer of 2 MB", `[${"1".repeat(large)}]`],
    ["a fraction of 2 MB", `[0.${"1".repeat(large)}]`],
    ["a huge exponent", `[1e${"9".repeat(1_000_000)}]`],
    ["2 MB of white space", `${" ".repeat(large)}1.0`],
  ];
  for (const [name, text] of texts) {
    test(`reads ${name} without loss`, () => {
      const value = readJson(text);
      assert.ok(writeJson(value) === text.trim());
    });
  }

  const broken: readonly (readonly [name: string, text: string])[] = [
    ["a string of 10 MB without an end", `["${"x".repeat(10_000_000)}`],
    ["2 MB of escaped quotes without an end", `["${'\\"'.repeat(large / 2)}`],
    ["2 MB of lines", `${"\n".repeat(large)}x`],
    ["2 MB of quotes", '"'.repeat(large)],
    ["2 MB of minus signs", "-".repeat(large)],
  ];
  for (const [name, text] of broken) {
    test(`refuses ${name} with a typed error`, () => {
      assert.throws(() => readJson(text), JsonSyntaxError);
    });
  }
});

suite("duplicate keys", () => {
  const reports: readonly (readonly [text: string, duplicates: readonly string[]])[] = [
    ["{}", []],
    ['{"a":{"a":{"a":1}}}', []],
    ['{"paused":true,"paused":false}', ["paused"]],
    ['{"spec":{"paused":true,"paused":false}}', ["spec.paused"]],
    ['{"spec":{"containers":[{"name":"a","name":"b"}]}}', ["spec.containers[0].name"]],
    ['[[1,{"x":1,"x":2}]]', ["[0][1].x"]],
    ['{"a":1,"a":2,"a":3,"b":1,"b":1}', ["a", "b"]],
    ['{"a":{"b":1},"a":{"b":2,"b":3}}', ["a", "a.b"]],
    ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
    ['{"constructor":1,"toString":2}', []],
    ['{"a":1,"\\u0061":2}', ["a"]],
    ['{"a:":":"}', []],
  ];
  for (const [text, duplicates] of reports) {
    test(`in ${text} are reported as [${duplicates.join(", ")}]`, () => {
      const { value, duplicates: found, membersBefore } = readJsonReport(text);
      assert.deepEqual({ value, found }, { value: JSON.parse(text), found: duplicates });
      assert.equal(membersBefore.length, duplicates.length);
    });
  }

  test("are reported with how many keys stood before them", () => {
    const text = '{"a":1,"b":{"x":1,"y":2,"z":3,"y":4},"a":2,"c":3,"b":5}';
    const { duplicates, membersBefore } = readJsonReport(text);
    assert.deepEqual(
      [duplicates, membersBefore],
      [
        ["b.y", "a", "b"],
        [3, 2, 3],
      ],
    );
  });

  test("are refused with their path and place when asked", () => {
    assert.throws(() => readJson('{"spec":{"a":1,\n"a":2}}', { duplicates: "refuse" }), {
      name: "JsonSyntaxError",
      code: "JSON_DUPLICATE_KEY",
      message: "duplicate key spec.a at line 2, column 1",
    });
    assert.deepEqual(readJson('{"a":1,"b":1.0}', { duplicates: "refuse" }), {
      a: 1,
      b: new JsonNumber("1.0"),
    });
  });

  test("are found exactly, wherever they are", () => {
    fc.assert(
      fc.property(anyDocument(), ({ text, duplicates }) => {
        assert.deepEqual(new Set(readJsonReport(text).duplicates), duplicates);
        if (duplicates.size === 0) readJson(text, { duplicates: "refuse" });
        else {
          assert.throws(() => readJson(text, { duplicates: "refuse" }), {
            code: "JSON_DUPLICATE_KEY",
          });
        }
      }),
    );
  });

  test("take linear time, however often and however deep a key is said", () => {
    const [open, close] = ['{"k":'.repeat(500), "}".repeat(500)];
    const flat = `{${'"x":1,'.repeat(500_000)}"x":1}`;
    const nested = `{${'"k":{"x":1,"x":1},'.repeat(200_000)}"k":1}`;
    const prefix = "k.".repeat(500);
    assert.deepEqual(readJsonReport(open + flat + close).duplicates, [`${prefix}x`]);
    assert.deepEqual(readJsonReport(open + nested + close).duplicates, [
      `${prefix}k.x`,
      `${prefix}k`,
    ]);
  });

  test("fill no more than a hundred paths, and paths cut long keys", () => {
    const twice = (key: string): string => `"${key}":1,"${key}":2`;
    const many = `{${Array.from({ length: 200 }, (_, i) => twice(`k${i}`)).join(",")}}`;
    assert.equal(readJsonReport(many).duplicates.length, 100);
    const long = "k".repeat(1_000_000);
    assert.deepEqual(readJsonReport(`{${twice(long)}}`).duplicates, [`${"k".repeat(200)}…`]);
  });
});

function outcome(run: () => unknown): string {
  try {
    run();
    return "accepted";
  } catch {
    return "refused";
  }
}

interface Document {
  readonly text: string;
  readonly duplicates: ReadonlySet<string>;
}

type Tree = string | { readonly array: readonly Tree[] } | { readonly members: [string, Tree][] };

/** Texts whose objects say keys at random, with the paths that are said twice. */
function anyDocument(): fc.Arbitrary<Document> {
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("1", "1.0", '"a"', "null"),
      fc.record({ array: fc.array(tie("tree"), { maxLength: 3 }) }),
      fc.record({ members: fc.array(fc.tuple(anyKey, tie("tree")), { maxLength: 4 }) }),
    ),
  }));
  return fc.tuple(tree, fc.constantFrom("", " ", "\n\t")).map(([tree, space]) => {
    const duplicates = new Set<string>();
    return { text: render(tree, { path: "", space, duplicates }), duplicates };
  });
}

function render(
  tree: Tree,
  at: { readonly path: string; readonly space: string; readonly duplicates: Set<string> },
): string {
  if (typeof tree === "string") return tree;
  const { path, space, duplicates } = at;
  if ("array" in tree) {
    const items = tree.array.map((item, i) => render(item, { ...at, path: `${path}[${i}]` }));
    return `[${space}${items.join(`,${space}`)}]`;
  }
  const seen = new Set<string>();
  const members = tree.members.map(([key, value]) => {
    const memberPath = path === "" ? key : `${path}.${key}`;
    if (seen.has(key)) duplicates.add(memberPath);
    seen.add(key);
    return `${JSON.stringify(key)}:${space}${render(value, { ...at, path: memberPath })}`;
  });
  return `{${members.join(`,${space}`)}${space}}`;
}
