// Random schemas and values for properties.

import { JsonNumber, type Json } from "@keelson/base";
import * as fc from "fast-check";
import type { StructuralSchema } from "../structural.ts";

const names = ["a", "b", "__proto__", "x"];

/** Any value, of few fields, so that schemas have something to say about it. */
export const arbitraryValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(null, true, false, 0, 1, 2, -1, 1.5, 2n ** 60n, new JsonNumber("1.0")),
    fc.constantFrom<Json>("", "a", "abc", "😀", "2026-01-02", "10.0.0.1"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

/** Any structural schema; it need not allow its own default. */
export const arbitrarySchema: fc.Arbitrary<StructuralSchema> = fc.letrec<{
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
