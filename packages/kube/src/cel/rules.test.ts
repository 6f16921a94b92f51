import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { Json } from "@keelson/base";
import { printFieldError } from "../status/field-error.ts";
import type { StructuralSchema, ValidationRule } from "../schema/structural.ts";
import { validateRules } from "./rules.ts";
import { validateObject } from "./validate-object.ts";
import { validateSchema } from "./validate-schema.ts";

function ruled(schema: StructuralSchema, rule: string | ValidationRule): StructuralSchema {
  const written = typeof rule === "string" ? { rule } : rule;
  return { ...schema, "x-kubernetes-validations": [written] };
}

function holds(schema: StructuralSchema, rule: string, value: Json): boolean {
  const { errors } = validateRules(ruled(schema, rule), value, { isObject: false });
  for (const { detail } of errors) assert.match(detail, /^failed rule/, detail);
  return errors.length === 0;
}

const text: StructuralSchema = { type: "string" };
const integer: StructuralSchema = { type: "integer" };
const integers: StructuralSchema = { type: "array", items: integer };
const pair: StructuralSchema = { type: "object", properties: { a: integer, b: text, "x-y": text } };

suite("rules", () => {
  const cases: readonly [schema: StructuralSchema, rule: string, right: Json, wrong: Json][] = [
    [text, "self.startsWith('a') && self.size() < 4", "abc", "bcd"],
    [text, "self.split(',').all(x, x in ['a', 'b'])", "a,b", "a,c"],
    [text, "self.find('[0-9]+') == '12'", "a12b3", "ab"],
    [text, "quantity(self).isLessThan(quantity('1Gi'))", "512Mi", "2Gi"],
    [integer, "self % 2 == 0 ? self > 2 : self > 5", 7, 2],
    [integers, "self.sum() == 6 && self.isSorted()", [1, 2, 3], [3, 2, 1]],
    [integers, "self.map(x, x * 2).exists_one(x, x == 4)", [1, 2], [2, 2]],
    [pair, "has(self.a) && self.x__dash__y == 'z'", { a: 1, "x-y": "z" }, { "x-y": "z" }],
    [pair, "self.?a.orValue(1) == 1", {}, { a: 2 }],
    [pair, "[?self.?a, 7].size() == 2 && [self.?a][?0].hasValue()", { a: 1 }, {}],
    [pair, "{?'?': self.?b, 'c': 'd'} == {'?': 'x', 'c': 'd'}", { b: "x" }, { a: 1 }],
    [
      { type: "string", format: "date-time" },
      "self.getFullYear() == 2026",
      "2026-01-01T00:00:00Z",
      "2025-01-01T00:00:00Z",
    ],
    [{ type: "string", format: "duration" }, "self > duration('1h')", "2h", "1m"],
    [{ type: "string", format: "duration" }, "self == duration('36h')", "1 day 12 hours", "1 day"],
    [
      { type: "string", format: "date-time" },
      "int(self) == -1",
      "1969-12-31T23:59:59.5Z",
      "1969-12-31T23:59:58.5Z",
    ],
  ];
  for (const [schema, rule, right, wrong] of cases) {
    test(`${rule} holds and fails`, () => {
      assert.equal(holds(schema, rule, right), true);
      assert.equal(holds(schema, rule, wrong), false);
    });
  }

  for (const [what, schema, value, old] of [
    ["type", pair, { a: 1 }, "text"],
    ["format", { type: "string", format: "byte" }, "YQ==", "%"],
    ["nullability", { type: "array", items: pair }, [], { a: 1 }],
  ] as const satisfies readonly [string, StructuralSchema, Json, Json][]) {
    test(`an old value of another ${what} is only wrong for rules that look at it`, () => {
      const found = (rule: string): readonly string[] =>
        validateRules(ruled(schema, rule), value, { old, isObject: false }).errors.map(
          ({ detail }) => detail,
        );
      assert.deepEqual(found("true"), []);
      assert.match(
        found("self == oldSelf").join(),
        /^[Ii]nvalid .* evaluating rule: self == oldSelf$/,
      );
    });
  }

  test("an error beside a side that decides does not matter", () => {
    assert.equal(holds(pair, "self.a > 1 || true", {}), true);
    assert.equal(holds(integers, "self.exists(x, 10 / x == 5)", [0, 2]), true);
  });

  test("say what went wrong in the words of the rule", () => {
    const message = (rule: ValidationRule, value: Json): string[] =>
      validateRules(ruled(pair, rule), value, { isObject: false }).errors.map(printFieldError);
    assert.deepEqual(message({ rule: "self.a > 1", message: "too small" }, { a: 1 }), [
      "<nil>: Invalid value: too small",
    ]);
    assert.deepEqual(
      message(
        { rule: "self.a > 1", messageExpression: "'got ' + string(self.a)", fieldPath: ".a" },
        { a: 1 },
      ),
      ["a: Invalid value: got 1"],
    );
    assert.deepEqual(
      message({ rule: "has(self.a)", reason: "FieldValueRequired", fieldPath: ".a" }, {}),
      ["a: Required value: failed rule: has(self.a)"],
    );
    assert.deepEqual(message({ rule: "self.a > 1" }, {}), [
      '<nil>: Invalid value: "object": no such key: a evaluating rule: self.a > 1',
    ]);
  });

  test("compare with the old value only where there is one", () => {
    const schema = ruled(integer, "self >= oldSelf");
    const run = (value: Json, old?: Json): number =>
      validateRules(schema, value, { isObject: false, ...(old === undefined ? {} : { old }) })
        .errors.length;
    assert.deepEqual([run(1), run(2, 1), run(1, 2)], [0, 0, 1]);
    const optional = ruled(integer, { rule: "oldSelf.orValue(0) <= self", optionalOldSelf: true });
    assert.equal(validateRules(optional, -1, { isObject: false }).errors.length, 1);
  });

  test("only warn of what has not changed", () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: { a: ruled(integer, "self > 5"), b: integer },
    };
    const { errors, warnings } = validateRules(
      schema,
      { a: 1, b: 2 },
      { old: { a: 1, b: 1 }, isObject: false },
    );
    assert.deepEqual(errors, []);
    assert.deepEqual(warnings, ["a: Invalid value: 1: failed rule: self > 5"]);
  });

  test("a rule that runs away is stopped, and so is what comes after it", () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: {
        l: ruled(integers, "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"),
        m: ruled(integers, "false"),
      },
    };
    const many = Array.from({ length: 500 }, (_, index) => index);
    const started = process.threadCpuUsage();
    const { errors } = validateRules(schema, { l: many, m: many });
    assert.ok(process.threadCpuUsage(started).user < 20_000_000);
    assert.deepEqual(
      errors.map(({ field }) => field),
      ["l"],
    );
    assert.match(errors[0]?.detail ?? "", /^'operation cancelled: actual cost limit exceeded'/);
  });

  test("all rules of a request share one budget", () => {
    const schema = ruled(integers, "self.all(x, x >= 0)");
    const { errors } = validateRules(schema, [1, 2, 3, 4, 5], { isObject: false, perRequest: 10 });
    assert.match(errors[0]?.detail ?? "", /running out of cost budget/);
  });

  test("do not run where the object could make them stumble", () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: { a: ruled(integer, "self > 5") },
    };
    const { errors } = validateObject(schema, { a: "x" });
    assert.deepEqual(
      errors.map(({ detail }) => detail),
      [
        'a in body must be of type integer: "string"',
        "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
      ],
    );
  });
});

suite("schemas of custom kinds", () => {
  const judge = (schema: StructuralSchema): string[] =>
    validateSchema({ type: "object", properties: { f: schema } }, { path: "s" }).map(
      printFieldError,
    );

  const cases: readonly [name: string, schema: StructuralSchema, error: RegExp | undefined][] = [
    ["a plain one", text, undefined],
    [
      "one without a type",
      {},
      /^s\.properties\[f\]\.type: Required value: must not be empty for specified object fields$/,
    ],
    ["a list without items", { type: "array" }, /items: Required value: must be specified$/],
    [
      "a pattern that is none",
      { type: "string", pattern: "(" },
      /must be a valid regular expression, but isn't: error parsing regexp/,
    ],
    [
      "a type inside allOf",
      { type: "string", allOf: [{ type: "string" }] },
      /allOf\[0\]\.type: Forbidden: must be empty to be structural$/,
    ],
    [
      "a default of another type",
      { type: "string", default: 1 },
      /default: Invalid value: "integer": {2}in body must be of type string: "integer"$/,
    ],
    ["uniqueItems", { type: "array", items: text, uniqueItems: true }, /uniqueItems: Forbidden/],
    [
      "a list-map without keys",
      { type: "array", items: pair, "x-kubernetes-list-type": "map" },
      /must not be empty if x-kubernetes-list-type is map$/,
    ],
    [
      "a set of open objects",
      { type: "array", items: pair, "x-kubernetes-list-type": "set" },
      /must be atomic as item of a list/,
    ],
    [
      "a default against a format that does not fit its type",
      { type: "array", format: "int64", items: text, default: { a: 1 } },
      /Invalid value: "": {2}in body must be of type int64: ""$/,
    ],
    [
      "a method that is a function",
      ruled(text, "quantity(self).sign() == 1"),
      /no matching overload for 'sign'/,
    ],
    ["a rule of the wrong type", ruled(text, "self"), /cel expression must evaluate to a bool$/],
    [
      "a rule about no field",
      ruled(pair, "self.zz == 1"),
      /undefined field 'zz'\n \| self\.zz == 1\n \| \.\.\.\.\^$/,
    ],
    [
      "a rule that mixes types",
      ruled(integer, "self + 'a' == 'b'"),
      /found no matching overload for '_\+_' applied to '\(int, string\)'/,
    ],
    [
      "a rule with a syntax error",
      ruled(integer, "self +"),
      /compilation failed: ERROR: <input>:1:\d+: Syntax error/,
    ],
    [
      "oldSelf where nothing belongs together",
      { type: "array", items: ruled(integer, "self == oldSelf") },
      /oldSelf cannot be used on the uncorrelatable portion/,
    ],
  ];
  for (const [name, schema, error] of cases) {
    test(`judges ${name}`, () => {
      const found = judge(schema);
      if (error === undefined) assert.deepEqual(found, []);
      else
        assert.ok(
          found.some((message) => error.test(message)),
          found.join("\n"),
        );
    });
  }
});
