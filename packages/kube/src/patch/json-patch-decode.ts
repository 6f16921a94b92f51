import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { jsonTypeName } from "../go-text/json-type-name.ts";
import { memberOf } from "../object/member.ts";
import { refuseDeepNesting } from "../object/nesting.ts";
import { badRequest, requestTooLarge } from "../status/failures.ts";

/** How many operations a patch may have. */
export const operationsMax = 10_000;

/** One operation, not yet known to make sense. An absent value is not a null. */
export interface JsonPatchOperation {
  readonly op: string | undefined;
  readonly path: string | undefined;
  readonly from: string | undefined;
  readonly value: Json | undefined;
}

/** A patch, and the fields in it that nobody knows. */
export interface DecodedJsonPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** `json patch unknown field "[0].foo"`: warnings, or errors where validation is strict (KB 51). */
  readonly unknownFields: readonly string[];
}

/**
 * Reads the operations of a JSON patch. Throws a `BadRequest` if it is not a list of objects with texts where texts
 * belong, and `RequestEntityTooLarge` if there are too many.
 */
export function decodeJsonPatch(patch: Json): DecodedJsonPatch {
  refuseDeepNesting(patch);
  if (!isJsonArray(patch)) {
    if (patch === null) return { operations: [], unknownFields: [] };
    throw cannotDecode(`${jsonTypeName(patch)} into Go value of type []handlers.jsonPatchOp`);
  }
  const unknownFields: string[] = [];
  const operations = patch.map((item, index) => decodeOperation(item, index, unknownFields));
  if (operations.length > operationsMax) {
    throw requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${operationsMax}, got ${operations.length}`,
    );
  }
  return { operations, unknownFields };
}

const known = new Set(["op", "path", "from", "value"]);

function decodeOperation(item: Json, index: number, unknownFields: string[]): JsonPatchOperation {
  if (item === null) return { op: undefined, path: undefined, from: undefined, value: undefined };
  if (!isJsonObject(item)) {
    throw cannotDecode(`${jsonTypeName(item)} into Go value of type handlers.jsonPatchOp`);
  }
  for (const key of Object.keys(item)) {
    if (!known.has(key)) unknownFields.push(`json patch unknown field "[${index}].${key}"`);
  }
  return {
    op: textOf(item, "op"),
    path: textOf(item, "path"),
    from: textOf(item, "from"),
    value: memberOf(item, "value"),
  };
}

function textOf(item: JsonObject, name: string): string | undefined {
  const value = memberOf(item, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw cannotDecode(
    `${jsonTypeName(value)} into Go struct field jsonPatchOp.${name} of type string`,
  );
}

function cannotDecode(what: string): Error {
  return badRequest(`error decoding patch: json: cannot unmarshal ${what}`);
}
