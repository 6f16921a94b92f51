// Whether something is a JSON schema, of whatever draft. Keywords that none knows may be anything.

import { isJsonArray, isJsonObject, JsonNumber, type Json } from "@keelson/base";
import type { FieldPlace } from "@keelson/kube";

const types = ["null", "boolean", "object", "array", "number", "string", "integer"];

type Check = (value: Json, at: FieldPlace) => void;

/** Says at `at` what keeps a value from being a JSON schema. */
export function checkJsonSchema(schema: unknown, at: FieldPlace): void {
  checkSchema(schema as Json, at);
}

const checkSchema: Check = (schema, at) => {
  if (typeof schema === "boolean") return;
  if (!isJsonObject(schema)) {
    at.invalidUnshown("must be a JSON schema: an object, true or false");
    return;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    keywords.get(keyword)?.(value, at.child(keyword));
  }
};

const schemas: Check = (value, at) => {
  if (!isJsonArray(value) || value.length === 0) {
    at.invalidUnshown("must be a list of JSON schemas");
    return;
  }
  for (const [index, one] of value.entries()) checkSchema(one, at.item(index));
};

const schemasByName: Check = (value, at) => {
  if (!isJsonObject(value)) {
    at.invalidUnshown("must be a map of JSON schemas");
    return;
  }
  for (const [name, one] of Object.entries(value)) checkSchema(one, at.key(name));
};

/** One schema for all, or one for each. */
const schemaOrSchemas: Check = (value, at) =>
  (isJsonArray(value) ? schemas : checkSchema)(value, at);

const text: Check = (value, at) => {
  if (typeof value !== "string") at.invalidUnshown("must be a text");
};

const texts: Check = (value, at) => {
  if (isJsonArray(value) && value.every((one) => typeof one === "string")) return;
  at.invalidUnshown("must be a list of texts");
};

const list: Check = (value, at) => {
  if (!isJsonArray(value)) at.invalidUnshown("must be a list");
};

const boolean: Check = (value, at) => {
  if (typeof value !== "boolean") at.invalidUnshown("must be true or false");
};

const number: Check = (value, at) => {
  if (numberOf(value) === undefined) at.invalidUnshown("must be a number");
};

const count: Check = (value, at) => {
  const found = numberOf(value);
  if (found !== undefined && found >= 0 && Number.isInteger(found)) return;
  at.invalidUnshown("must be a whole number, at least 0");
};

const positive: Check = (value, at) => {
  if ((numberOf(value) ?? 0) <= 0) at.invalidUnshown("must be a number above 0");
};

/** A number; in older drafts whether another one is itself excluded. */
const bound: Check = (value, at) => {
  if (typeof value !== "boolean") number(value, at);
};

const typeWord: Check = (value, at) => {
  const words = isJsonArray(value) ? value : [value];
  for (const [index, word] of words.entries()) {
    if (typeof word === "string" && types.includes(word)) continue;
    const place = isJsonArray(value) ? at.item(index) : at;
    if (typeof word === "string") place.notSupported(word, types);
    else place.invalidUnshown("must be the name of a type");
  }
};

/** What must also be there, or must also hold, where a property is there. */
const dependencies: Check = (value, at) => {
  if (!isJsonObject(value)) {
    at.invalidUnshown("must be a map");
    return;
  }
  for (const [name, one] of Object.entries(value)) {
    (isJsonArray(one) ? texts : checkSchema)(one, at.key(name));
  }
};

function numberOf(value: Json): number | undefined {
  if (value instanceof JsonNumber) return Number(value.text);
  return typeof value === "number" ? value : undefined;
}

const keywords: ReadonlyMap<string, Check> = new Map(
  (
    [
      [
        text,
        [
          "$schema",
          "$id",
          "$ref",
          "$anchor",
          "$comment",
          "title",
          "description",
          "format",
          "pattern",
          "contentEncoding",
          "contentMediaType",
        ],
      ],
      [
        schemasByName,
        ["$defs", "definitions", "dependentSchemas", "properties", "patternProperties"],
      ],
      [typeWord, ["type"]],
      [list, ["enum", "examples"]],
      [texts, ["required"]],
      [dependencies, ["dependentRequired", "dependencies"]],
      [
        checkSchema,
        [
          "additionalProperties",
          "unevaluatedProperties",
          "propertyNames",
          "additionalItems",
          "unevaluatedItems",
          "contains",
          "not",
          "if",
          "then",
          "else",
        ],
      ],
      [schemaOrSchemas, ["items"]],
      [schemas, ["prefixItems", "allOf", "anyOf", "oneOf"]],
      [positive, ["multipleOf"]],
      [number, ["minimum", "maximum"]],
      [bound, ["exclusiveMinimum", "exclusiveMaximum"]],
      [
        count,
        [
          "minLength",
          "maxLength",
          "minItems",
          "maxItems",
          "minContains",
          "maxContains",
          "minProperties",
          "maxProperties",
        ],
      ],
      [boolean, ["uniqueItems", "deprecated", "readOnly", "writeOnly"]],
    ] as const
  ).flatMap(([check, names]) => names.map((name) => [name, check] as const)),
);
