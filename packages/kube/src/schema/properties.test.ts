// What holds for any schema and any value.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { cloneJson, jsonEqual, JsonNumber, type Json } from "@keelson/base";
import * as fc from "fast-check";
import { compileCheck } from "./check.ts";
import { applyDefaults } from "./default.ts";
import { enumerationOf } from "./enumeration.ts";
import { floatOf, kindOf, truncateToInt64, valuesEqual } from "./go-value.ts";
import { identityOf } from "./identity.ts";
import { prune } from "./prune.ts";
import { report } from "./report.ts";
import type { StructuralSchema } from "./structural.ts";

const names = ["a", "b", "__proto__", "x"];

/** Any value, of few fields, so that schemas have something to say about it. */
const arbitraryValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, 0, 1, 2, -1, 1.5, 2n ** 60n, new JsonNumber("1.0")),
    fc.constantFrom<Json>("", "a", "abc", "😀", "2026-01-02", "10.0.0.1"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

/** Any structural schema; it need not allow its own default. */
const arbitrarySchema: fc.Arbitrary<StructuralSchema> = fc.letrec<{
  schema: StructuralSchema;
}>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.record<StructuralSchema>(
      {
        type: fc.constantFrom("string", "integer", "number", "boolean"),
        nullable: fc.boolean(),
        minimum: fc.constantFrom(0, 1.5),
        maximum: fc.constantFrom(1, 2.5),
        multipleOf: fc.constantFrom(0.5, 2),
        maxLength: fc.nat(3),
        minLength: fc.nat(2),
        pattern: fc.constantFrom("^a", "b$", "("),
        format: fc.constantFrom("date", "ipv4", "int32", "float", "nothing"),
        enum: fc.constant(["a", 1, null]),
        default: fc.constantFrom<Json>("a", 1, true),
        not: tie("schema"),
      },
      { requiredKeys: [] },
    ),
    fc.record<StructuralSchema>(
      {
        type: fc.constant("array"),
        items: tie("schema"),
        minItems: fc.nat(2),
        maxItems: fc.nat(2),
        nullable: fc.boolean(),
        "x-kubernetes-preserve-unknown-fields": fc.constant(true),
      },
      { requiredKeys: ["type", "items"] },
    ),
    fc.record<StructuralSchema>(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom(...names), tie("schema"), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
        required: fc.subarray(names),
        maxProperties: fc.nat(3),
        anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
        allOf: fc.array(tie("schema"), { maxLength: 2 }),
        nullable: fc.boolean(),
        default: fc.constant({}),
        "x-kubernetes-preserve-unknown-fields": fc.constant(true),
        "x-kubernetes-embedded-resource": fc.constant(true),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record<StructuralSchema>(
      { type: fc.constant("object"), additionalProperties: fc.oneof(tie("schema"), fc.boolean()) },
      { requiredKeys: ["type", "additionalProperties"] },
    ),
    fc.constant<StructuralSchema>({ "x-kubernetes-int-or-string": true }),
  ),
})).schema;

/** Whether a value, converted to the type of an allowed one where Go can do so, equals it; null never does. */
function isEnumerated(value: Json, allowed: Json): boolean {
  const kind = kindOf(value);
  const allowedKind = kindOf(allowed);
  if (kind === "null" || allowedKind === "null") return false;
  if (kind === allowedKind) return valuesEqual(value, allowed);
  if (kind === "integer" && allowedKind === "number") return floatOf(value) === floatOf(allowed);
  if (kind === "number" && allowedKind === "integer") {
    return truncateToInt64(floatOf(value)) === BigInt(allowed as number);
  }
  if (kind !== "integer" || typeof allowed !== "string") return false;
  const code = Number(value);
  const isCharacter = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return (isCharacter ? String.fromCodePoint(code) : "\ufffd") === allowed;
}

suite("any schema and any value", () => {
  test("the compiled check and the report agree", () => {
    fc.assert(
      fc.property(arbitrarySchema, arbitraryValue, (schema, value) => {
        assert.equal(compileCheck(schema)(value), report(schema, value, "").problems.length === 0);
      }),
      { numRuns: 2_000 },
    );
  });

  test("two values have the same identity exactly if they are equal", () => {
    fc.assert(
      fc.property(arbitraryValue, arbitraryValue, (a, b) => {
        assert.equal(identityOf(a) === identityOf(b), valuesEqual(a, b));
        assert.equal(identityOf(a), identityOf(cloneJson(a)));
        // Cut, it is that of no value.
        const whole = identityOf(b);
        if (identityOf(a, whole.length) === whole) assert.ok(valuesEqual(a, b));
        if (valuesEqual(a, b)) assert.equal(identityOf(a, whole.length), whole);
      }),
      { numRuns: 2_000 },
    );
  });

  test("an enum allows what one of its values allows", () => {
    const values = fc.oneof(
      arbitraryValue,
      fc.constantFrom<Json>(97, 2n ** 60n + 1n, 0xd800, 0xfffd, "\ufffd", "A", 65, 65.5, -0.5),
      fc.constantFrom<Json>(new JsonNumber("-0"), new JsonNumber("1e3"), 1000, 2 ** 60),
    );
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 6 }), values, (allowed, value) => {
        const isAllowed = allowed.some((one) => isEnumerated(value, one));
        assert.equal(enumerationOf({ enum: allowed })?.has(value), isAllowed);
      }),
      { numRuns: 3_000 },
    );
  });

  test("defaults applied twice change nothing more", () => {
    fc.assert(
      fc.property(arbitrarySchema, arbitraryValue, (schema, value) => {
        const once = cloneJson(value);
        applyDefaults(once, schema);
        const twice = cloneJson(once);
        applyDefaults(twice, schema);
        assert.ok(jsonEqual(once, twice));
      }),
      { numRuns: 1_000 },
    );
  });

  test("pruning twice changes nothing more and finds nothing", () => {
    fc.assert(
      fc.property(arbitrarySchema, arbitraryValue, (schema, value) => {
        const once = cloneJson(value);
        prune(once, schema);
        const twice = cloneJson(once);
        assert.deepEqual(prune(twice, schema), []);
        assert.ok(jsonEqual(once, twice));
      }),
      { numRuns: 1_000 },
    );
  });
});
