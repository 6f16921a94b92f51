import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json } from "@keelson/base";
import { Type } from "typebox";
import { fieldsOf } from "./schema-fields.ts";

const linesOf = (schema: object): readonly string[] =>
  fieldsOf(schema as Json).map(
    ({ path, type, isRequired, description }) =>
      `${path}${isRequired ? "" : "?"}: ${type}${description === "" ? "" : ` (${description})`}`,
  );

suite("the fields of a schema", () => {
  test("are told with where they stand, what they may be and what they mean", () => {
    const schema = Type.Object({
      name: Type.String({ minLength: 1, maxLength: 255, description: "what it is called" }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
      generation: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      phase: Type.Union([Type.Literal("Ready"), Type.Literal("Failed")]),
      project: Type.Union([Type.String(), Type.Null()]),
      at: Type.String({ format: "date-time" }),
      conditions: Type.Array(Type.Object({ type: Type.String() })),
      last: Type.Union([Type.Object({ code: Type.Integer() }), Type.Null()]),
      tags: Type.Array(Type.String()),
    });
    assert.deepEqual(linesOf(schema), [
      "name: string, 1 to 255 characters (what it is called)",
      "limit?: integer, 1 to 100, 50 unless told",
      "generation: integer, at least 1",
      "phase: Ready | Failed",
      "project: string | null",
      "at: date-time",
      "conditions: list of object",
      "conditions[].type: string",
      "last: object | null",
      "last.code: integer",
      "tags: list of string",
    ]);
  });

  test("of what is no object are the value itself", () => {
    assert.deepEqual(linesOf(Type.Array(Type.Object({ id: Type.String() }))), ["[].id: string"]);
    assert.deepEqual(linesOf({ enum: ["true", "false"] }), [": true | false"]);
    assert.deepEqual(linesOf({}), [": any"]);
    assert.deepEqual(linesOf({ $ref: "#/components/schemas/Error" }), [": Error"]);
  });
});
