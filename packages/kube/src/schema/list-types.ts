// Lists that are sets or maps hold nothing twice.

import { append, isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { Json, JsonObject, MutableJsonObject } from "@keelson/base";
import {
  childPath,
  duplicateField,
  itemPath,
  invalidField,
  type FieldError,
} from "../status/field-error.ts";
import { goJson } from "../go-text/go-json.ts";
import { floatOf, kindOf, scalarText } from "./go-value.ts";
import { somewhereBelow } from "./somewhere-below.ts";
import type { StructuralSchema } from "./structural.ts";

/** An error for each item of a set, and each key of a list-map, that is there again; once for each. */
export function validateListTypes(
  schema: StructuralSchema,
  object: JsonObject,
  path = "",
): FieldError[] {
  const errors: FieldError[] = [];
  if (hasSetsOrMaps(schema)) visitMembers(schema, object, path, errors);
  return errors;
}

function visit(schema: StructuralSchema, value: Json, path: string, errors: FieldError[]): void {
  if (isJsonArray(value)) {
    switch (schema["x-kubernetes-list-type"]) {
      case "set":
        for (const index of repeated(value)) {
          errors.push(duplicateField(itemPath(path, index), value[index] ?? null));
        }
        break;
      case "map":
        append(errors, mapErrors(schema, value, path));
        break;
      case "atomic":
      case undefined:
        break;
    }
    const { items } = schema;
    if (items === undefined || !(isSetOrMap(items) || hasSetsOrMaps(items))) return;
    for (const [index, item] of value.entries()) visit(items, item, itemPath(path, index), errors);
  } else if (isJsonObject(value)) {
    visitMembers(schema, value, path, errors);
  }
}

function visitMembers(
  { properties = {}, additionalProperties }: StructuralSchema,
  object: JsonObject,
  path: string,
  errors: FieldError[],
): void {
  for (const name of Object.keys(object)) {
    const member = object[name] ?? null;
    if (typeof additionalProperties === "object") {
      visit(additionalProperties, member, itemPath(path, name), errors);
    }
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) visit(property, member, childPath(path, name), errors);
  }
}

function mapErrors(schema: StructuralSchema, list: readonly Json[], path: string): FieldError[] {
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (wrong >= 0) {
    const detail = "must be an object for an array of list-type map";
    return [invalidField(itemPath(path, wrong), list[wrong] ?? null, detail)];
  }
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const keys = list.map((item) => keysOf(item, names));
  const [name] = names;
  // One key is compared as a scalar, several as text: only then are 1 and 1.0 the same.
  const identities =
    names.length === 1 && name !== undefined
      ? keys.map((key) => (Object.hasOwn(key, name) ? identityOf(key[name] ?? null) : ""))
      : keys.map(goJson);
  return again(identities).map((index) => duplicateField(itemPath(path, index), keys[index] ?? {}));
}

function keysOf(item: Json, names: readonly string[]): JsonObject {
  const keys: MutableJsonObject = {};
  if (!isJsonObject(item)) return keys;
  for (const name of names) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (value !== undefined) setMember(keys, name, value as MutableJsonObject);
  }
  return keys;
}

function repeated(items: readonly Json[]): number[] {
  return items.length <= 1 ? [] : again(items.map(identityOf));
}

/** The index of each second appearance. */
function again(identities: readonly string[]): number[] {
  const times = new Map<string, number>();
  const indexes: number[] = [];
  for (const [index, identity] of identities.entries()) {
    const seen = (times.get(identity) ?? 0) + 1;
    times.set(identity, seen);
    if (seen === 2) indexes.push(index);
  }
  return indexes;
}

/** Scalars differ by type as well; lists and objects by their text. */
function identityOf(item: Json): string {
  const kind = kindOf(item);
  if (kind === "array" || kind === "object") return goJson(item);
  return `${kind} ${kind === "number" ? floatOf(item) : scalarText(item)}`;
}

function isSetOrMap(schema: StructuralSchema): boolean {
  const type = schema["x-kubernetes-list-type"];
  return type === "set" || type === "map";
}

const hasSetsOrMaps = somewhereBelow(isSetOrMap);
