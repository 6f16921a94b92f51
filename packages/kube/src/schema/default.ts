// Defaults of a schema, and what becomes of null.

import { cloneJson, isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { MutableJson, MutableJsonObject } from "@keelson/base";
import { fieldSchema } from "./correlation.ts";
import { somewhereBelow } from "./somewhere-below.ts";
import type { StructuralSchema } from "./structural.ts";

/**
 * Fills in the defaults of a schema, in place. A field that is absent gets its default, as does one that is null
 * and may not be. Doing it twice changes nothing more.
 */
export function applyDefaults(value: MutableJson, schema: StructuralSchema): void {
  if (!canDefault(schema)) return;
  if (isJsonObject(value)) {
    defaultMembers(value, schema);
  } else if (isJsonArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    const list = value;
    for (const [index, item] of list.entries()) {
      if (item === null && items.nullable !== true) {
        list[index] = items.default === undefined ? null : cloneJson(items.default);
      }
      applyDefaults(list[index] ?? null, items);
    }
  }
}

function defaultMembers(object: MutableJsonObject, schema: StructuralSchema): void {
  const { properties = {}, additionalProperties } = schema;
  for (const name of Object.keys(properties)) {
    const property = properties[name];
    if (property?.default === undefined) continue;
    if (!Object.hasOwn(object, name) || (object[name] === null && property.nullable !== true)) {
      setMember(object, name, cloneJson(property.default));
    }
  }
  for (const name of Object.keys(object)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) {
      applyDefaults(object[name] ?? null, property);
    } else if (typeof additionalProperties === "object") {
      const { nullable, default: fallback } = additionalProperties;
      if (object[name] === null && nullable !== true) {
        setMember(object, name, fallback === undefined ? null : cloneJson(fallback));
      }
      applyDefaults(object[name] ?? null, additionalProperties);
    }
  }
}

/** Removes, in place, each null that may not be one and has no default to become. */
export function dropNulls(value: MutableJson, schema: StructuralSchema | undefined): void {
  if (schema === undefined) return;
  if (isJsonObject(value)) {
    const object = value;
    for (const name of Object.keys(object)) {
      const field = fieldSchema(schema, name);
      if (field === undefined) continue;
      const member = object[name] ?? null;
      if (member === null && field.nullable !== true && field.default === undefined) {
        delete object[name];
      } else if (member !== null) {
        dropNulls(member, field);
      }
    }
  } else if (isJsonArray(value)) {
    for (const item of value) dropNulls(item, schema.items);
  }
}

const canDefault = somewhereBelow((schema) => schema.default !== undefined);
