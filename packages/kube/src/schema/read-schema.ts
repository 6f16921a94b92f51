// A schema as a user wrote it becomes one as we use it.

import { isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { Json, JsonObject, MutableJson, MutableJsonObject } from "@keelson/base";
import { floatOf } from "./go-value.ts";
import type { StructuralSchema } from "./structural.ts";

/** A schema as it may be written: with keys that a structural schema must not have. */
export interface WrittenSchema extends StructuralSchema {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly additionalItems?: Json;
  readonly patternProperties?: Readonly<Record<string, WrittenSchema>>;
  readonly definitions?: Readonly<Record<string, WrittenSchema>>;
  readonly dependencies?: Readonly<Record<string, Json>>;
}

/**
 * Reads a schema whose JSON has the right types, as decoding a CustomResourceDefinition makes sure. Numbers become
 * JavaScript numbers; what is null, and what means nothing (an empty `type`, `nullable: false`), is left out.
 * Keys that make it unstructural are kept, for `validateSchema` to name them. At most 512 levels are read.
 */
export function readSchema(json: JsonObject): WrittenSchema {
  return readPart(json, 0);
}

const depthMax = 512;

type Reader = (value: Json, depth: number) => MutableJson | undefined;

const number: Reader = (value) => floatOf(value);
const flag: Reader = (value) => (value === true ? true : undefined);
const text: Reader = (value) => (value === "" ? undefined : (value as string));
const asIs: Reader = (value) => value as MutableJson;
const schema: Reader = (value, depth) => (isJsonObject(value) ? readPart(value, depth) : undefined);
const schemaOrFlag: Reader = (value, depth) =>
  typeof value === "boolean" ? value : schema(value, depth);
const schemaOrList: Reader = (value, depth) =>
  isJsonArray(value) ? (value as MutableJson[]) : schema(value, depth);
const list: Reader = (value) =>
  isJsonArray(value) && value.length > 0 ? (value as MutableJson[]) : undefined;
const schemas: Reader = (value, depth) => {
  if (!isJsonArray(value) || value.length === 0) return undefined;
  return value.map((part) => readPart(isJsonObject(part) ? part : {}, depth));
};
const schemaMap: Reader = (value, depth) => {
  if (!isJsonObject(value)) return undefined;
  const parts: MutableJsonObject = {};
  for (const [name, part] of Object.entries(value)) {
    setMember(parts, name, readPart(isJsonObject(part) ? part : {}, depth));
  }
  return Object.keys(parts).length === 0 ? undefined : parts;
};

const readers: Readonly<Record<string, Reader>> = {
  id: text,
  $schema: text,
  $ref: asIs,
  additionalItems: asIs,
  patternProperties: schemaMap,
  definitions: schemaMap,
  dependencies: asIs,
  type: text,
  title: text,
  description: text,
  format: text,
  pattern: text,
  nullable: flag,
  uniqueItems: flag,
  exclusiveMaximum: flag,
  exclusiveMinimum: flag,
  default: asIs,
  example: asIs,
  externalDocs: asIs,
  maximum: number,
  minimum: number,
  multipleOf: number,
  maxLength: number,
  minLength: number,
  maxItems: number,
  minItems: number,
  maxProperties: number,
  minProperties: number,
  enum: list,
  required: list,
  properties: schemaMap,
  additionalProperties: schemaOrFlag,
  items: schemaOrList,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  "x-kubernetes-preserve-unknown-fields": asIs,
  "x-kubernetes-embedded-resource": flag,
  "x-kubernetes-int-or-string": flag,
  "x-kubernetes-list-type": asIs,
  "x-kubernetes-list-map-keys": list,
  "x-kubernetes-map-type": asIs,
  "x-kubernetes-validations": list,
};

function readPart(json: JsonObject, depth: number): MutableJsonObject {
  const part: MutableJsonObject = {};
  if (depth > depthMax) return part;
  for (const [key, value] of Object.entries(json)) {
    if (value === null || !Object.hasOwn(readers, key)) continue;
    const read = readers[key]?.(value, depth + 1);
    if (read !== undefined) part[key] = read;
  }
  return part;
}
