import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { JsonNumber, readJson, type Json } from "@keelson/base";
import { printFieldError, toldErrorsMax } from "../status/field-error.ts";
import type { StructuralSchema } from "./structural.ts";
import { validate, validateUpdate } from "./validate.ts";

const messages = (schema: StructuralSchema, value: Json): string[] =>
  validate({ type: "object", properties: { a: schema } }, { a: value }).map(printFieldError);

suite("validate", () => {
  const cases: readonly [name: string, schema: StructuralSchema, value: Json, errors: string[]][] =
    [
      ["a right string", { type: "string" }, "x", []],
      [
        "a wrong type",
        { type: "string" },
        1,
        ['a: Invalid value: "integer": a in body must be of type string: "integer"'],
      ],
      [
        "null where it may not be",
        { type: "string" },
        null,
        ['a: Invalid value: "null": a in body must be of type string: "null"'],
      ],
      ["null where it may be", { type: "string", nullable: true }, null, []],
      ["an integral float", { type: "integer" }, new JsonNumber("2.0"), []],
      [
        "a float for an integer",
        { type: "integer" },
        1.5,
        [
          'a: Invalid value: "number": a in body must be of type integer: "number"',
          '<nil>: Invalid value: "": Checked value must be of type integer (default format) in a',
        ],
      ],
      [
        "an int32 out of range",
        { type: "integer", format: "int32" },
        2147483648,
        ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a'],
      ],
      ["an integer below a cut minimum", { type: "number", minimum: 1.5 }, 1, []],
      [
        "an integer above a cut maximum",
        { type: "number", maximum: 1.5 },
        2,
        ["a: Invalid value: 2: a in body should be less than or equal to 1"],
      ],
      [
        "too long",
        { type: "string", maxLength: 1 },
        "ab",
        ["a: Too long: may not be more than 1 byte"],
      ],
      [
        "too short, in code points",
        { type: "string", minLength: 2 },
        "😀",
        ['a: Invalid value: "😀": a in body should be at least 2 chars long'],
      ],
      [
        "a missed pattern",
        { type: "string", pattern: "^b" },
        "a",
        ["a: Invalid value: \"a\": a in body should match '^b'"],
      ],
      [
        "a missed enum",
        { type: "string", enum: ["x", "y"] },
        "z",
        ['a: Unsupported value: "z": supported values: "x", "y"'],
      ],
      [
        "a number that is the code of an enum's letter",
        { "x-kubernetes-int-or-string": true, enum: ["A"] },
        65,
        [],
      ],
      [
        "too many items",
        { type: "array", maxItems: 1, items: {} },
        [1, 2],
        ["a: Too many: 2: must have at most 1 item"],
      ],
      [
        "too few properties",
        { type: "object", minProperties: 1 },
        {},
        ["a: Invalid value: 0: a in body should have at least 1 properties"],
      ],
      ["a missing field", { type: "object", required: ["b"] }, {}, ["a.b: Required value"]],
      ["a list where a formatted string is asked", { type: "string", format: "date" }, [], []],
      [
        "a text that misses its format",
        { type: "string", format: "date" },
        "x",
        ['a: Invalid value: "x": a in body must be of type date: "x"'],
      ],
      [
        "an int or string",
        { "x-kubernetes-int-or-string": true },
        true,
        ['a: Invalid value: "boolean": a in body must be of type integer,string: "boolean"'],
      ],
      [
        "a forbidden alternative",
        { type: "string", not: { enum: ["x"] } },
        "x",
        ['<nil>: Invalid value: "": "a" must not validate the schema (not)'],
      ],
      [
        "no alternative of one",
        { type: "integer", oneOf: [{ minimum: 2 }, { enum: [9] }] },
        1,
        [
          '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
          "a: Invalid value: 1: a in body should be greater than or equal to 2",
        ],
      ],
      [
        "an invalid pattern",
        { type: "string", pattern: "(" },
        "a",
        [
          "a: Invalid value: \"a\": a in body should match '(, but pattern is invalid: error parsing regexp: missing closing ): `(`'",
        ],
      ],
    ];
  for (const [name, schema, value, errors] of cases) {
    test(`judges ${name}`, () => assert.deepEqual(messages(schema, value), errors));
  }

  test("what did not change is let through, what did is not", () => {
    const schema: StructuralSchema = {
      type: "object",
      properties: { a: { type: "string", maxLength: 1 }, b: { type: "string", maxLength: 1 } },
    };
    const old = { a: "long", b: "x" };
    assert.deepEqual(validateUpdate(schema, { a: "long", b: "y" }, old), []);
    const errors = validateUpdate(schema, { a: "long", b: "yy" }, old).map(printFieldError);
    assert.deepEqual(errors, ["b: Too long: may not be more than 1 byte"]);
  });

  test("items of a list-map are compared with the old ones of the same key", () => {
    const items: StructuralSchema = {
      type: "object",
      properties: { name: { type: "string" }, v: { type: "string", maxLength: 1 } },
    };
    const list: StructuralSchema = {
      type: "array",
      items,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    };
    const old = [{ name: "a", v: "long" }];
    const value = [
      { name: "b", v: "x" },
      { name: "a", v: "long" },
    ];
    assert.deepEqual(validateUpdate(list, value, old), []);
    assert.equal(
      validateUpdate({ ...list, "x-kubernetes-list-type": "atomic" }, value, old).length,
      1,
    );
  });

  test("a pattern that would blow up elsewhere takes linear time", () => {
    const schema: StructuralSchema = { type: "string", pattern: "^(a+)+$" };
    const started = process.threadCpuUsage();
    assert.equal(validate(schema, `${"a".repeat(200_000)}b`).length, 1);
    assert.ok(process.threadCpuUsage(started).user < 5_000_000);
  });

  test("depth and odd keys do no harm", () => {
    const deep = readJson(`${"[".repeat(10_000)}${"]".repeat(10_000)}`, { depthMax: 20_000 });
    const open: StructuralSchema = { "x-kubernetes-preserve-unknown-fields": true, enum: [[]] };
    assert.equal(validate(open, deep).length, 1);
    const odd = readJson('{"__proto__":{"a":1},"constructor":1,"hasOwnProperty":1}');
    const strict: StructuralSchema = { type: "object", additionalProperties: { type: "string" } };
    assert.deepEqual(
      validate(strict, odd)
        .map(({ field }) => field)
        .sort(),
      ["__proto__", "constructor", "hasOwnProperty"],
    );
  });

  test("ten megabytes are judged in bounded time", () => {
    const many = Array.from(
      { length: 200_000 },
      (_, index) => `item number ${index} of a long list of text`,
    );
    const schema: StructuralSchema = { type: "array", items: { type: "string", maxLength: 100 } };
    const started = process.threadCpuUsage();
    assert.deepEqual(validate(schema, many), []);
    const wrong = validate({ type: "array", items: { type: "integer" } }, many);
    assert.equal(wrong.length, toldErrorsMax + 1);
    assert.ok(process.threadCpuUsage(started).user < 30_000_000);
  });
});
