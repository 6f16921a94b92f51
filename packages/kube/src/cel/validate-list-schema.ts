// What a schema must say of a list that is a set or a map.

import { append } from "@keelson/base";

import {
  childPath,
  itemPath,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
  type FieldError,
} from "../status/field-error.ts";
import type { StructuralSchema } from "../schema/structural.ts";

/** What is wrong with `x-kubernetes-list-type` and `-list-map-keys`. */
export function validateListSchema(schema: StructuralSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type, items } = schema;
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const typePlace = childPath(path, "x-kubernetes-list-type");
  if (listType !== undefined && type !== "array") {
    const detail = "must be array if x-kubernetes-list-type is specified";
    const place = childPath(path, "type");
    errors.push(
      type === undefined ? requiredField(place, detail) : invalidField(place, type, detail),
    );
  } else if (listType === "set" && items !== undefined) {
    append(errors, setItemErrors(items, childPath(path, "items")));
  }
  if (listType !== undefined && !["atomic", "set", "map"].includes(listType)) {
    errors.push(notSupportedField(typePlace, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.push(
      listType === undefined
        ? requiredField(typePlace, detail)
        : invalidField(typePlace, listType, detail),
    );
  }
  if (listType === "map") append(errors, mapErrors(schema, keys, path));
  if ((listType === "map" || listType === "set") && items !== undefined) {
    append(errors, itemErrors(items, listType, keys, childPath(path, "items")));
  }
  return errors;
}

function setItemErrors(items: StructuralSchema, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalidField(childPath(path, "x-kubernetes-list-type"), listType, detail)];
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    return [invalidField(childPath(path, "x-kubernetes-map-type"), listType ?? null, detail)];
  }
  return [];
}

function mapErrors(schema: StructuralSchema, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { items } = schema;
  const keysPlace = childPath(path, "x-kubernetes-list-map-keys");
  if (keys.length === 0) {
    errors.push(requiredField(keysPlace, "must not be empty if x-kubernetes-list-type is map"));
  }
  if (items === undefined) {
    const detail = "must have a schema if x-kubernetes-list-type is map";
    return [...errors, requiredField(childPath(path, "items"), detail)];
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [
      ...errors,
      invalidField(childPath(childPath(path, "items"), "type"), items.type ?? "", detail),
    ];
  }
  const seen = new Set<string>();
  const properties = items.properties ?? {};
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) {
      errors.push(invalidField(keysPlace, keys, "entries must all be names of item properties"));
    } else if (property.type === "array" || property.type === "object") {
      const place = itemPath(childPath(childPath(path, "items"), "properties"), key);
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidField(childPath(place, "type"), items.type, detail));
    }
    if (seen.has(key))
      errors.push(invalidField(keysPlace, keys, "must not contain duplicate entries"));
    seen.add(key);
  }
  return errors;
}

function itemErrors(
  items: StructuralSchema,
  listType: "map" | "set",
  keys: readonly string[],
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbiddenField(childPath(path, "nullable"), detail));
  }
  if (listType === "set") return errors;
  const properties = items.properties ?? {};
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) continue;
    const place = itemPath(childPath(path, "properties"), key);
    if (items.required?.includes(key) !== true && property.default === undefined) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      errors.push(requiredField(childPath(place, "default"), detail));
    }
    if (property.nullable === true) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
      errors.push(forbiddenField(childPath(place, "nullable"), detail));
    }
  }
  return errors;
}
