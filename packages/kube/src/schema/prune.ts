// Removes what a schema does not know.

import { isJsonArray, isJsonObject } from "@keelson/base";
import type { MutableJson, MutableJsonObject } from "@keelson/base";
import { compareBytes } from "../go-text/byte-order.ts";
import { childPath } from "../status/field-error.ts";
import type { StructuralSchema } from "./structural.ts";
import { UnknownFields } from "./unknown-fields.ts";

export interface PruneOptions {
  /** The value is a whole object: its `apiVersion`, `kind` and `metadata` are not for the schema to judge. */
  readonly isObject?: boolean;
}

/**
 * Removes, in place, every field that the schema does not name, and returns their paths in order, as field
 * validation reports them: `spec.x`, `spec.list[0].x`; of very many only the first that are found. Below
 * `x-kubernetes-preserve-unknown-fields` only what is named is pruned. Doing it twice changes nothing more.
 */
export function prune(
  value: MutableJson,
  schema: StructuralSchema,
  { isObject = false }: PruneOptions = {},
): string[] {
  const unknown = new UnknownFields();
  pruneValue(value, schema, { isResource: isObject || isEmbedded(schema), path: "" }, unknown);
  return unknown.paths.sort(compareBytes);
}

interface Place {
  readonly isResource: boolean;
  readonly path: string;
}

function isEmbedded(schema: StructuralSchema | undefined): boolean {
  return schema?.["x-kubernetes-embedded-resource"] === true;
}

function isMetaField(name: string): boolean {
  return name === "apiVersion" || name === "kind" || name === "metadata";
}

function pruneValue(
  value: MutableJson,
  schema: StructuralSchema | undefined,
  place: Place,
  unknown: UnknownFields,
): void {
  if (isJsonObject(value)) {
    const object = value;
    if (schema !== undefined) pruneMembers(object, schema, place, unknown);
    else for (const name of Object.keys(object)) remove(object, name, place, unknown);
  } else if (isJsonArray(value)) {
    if (schema?.["x-kubernetes-preserve-unknown-fields"] === true) {
      keepItems(value, schema, place.path, unknown);
      return;
    }
    for (const [index, item] of value.entries()) {
      const path = `${place.path}[${index}]`;
      const items = schema?.items;
      pruneValue(item, items, { isResource: isEmbedded(items), path }, unknown);
    }
  }
}

function pruneMembers(
  object: MutableJsonObject,
  schema: StructuralSchema,
  place: Place,
  unknown: UnknownFields,
): void {
  const { properties = {}, additionalProperties } = schema;
  const isKept = schema["x-kubernetes-preserve-unknown-fields"] === true;
  for (const name of Object.keys(object)) {
    if (place.isResource && isMetaField(name)) continue;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined && additionalProperties === undefined) {
      if (!isKept) remove(object, name, place, unknown);
      continue;
    }
    const part =
      property ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    const path = childPath(place.path, name);
    pruneValue(object[name] ?? null, part, { isResource: isEmbedded(part), path }, unknown);
  }
}

/** Items of a list whose unknown fields are kept: they keep theirs too. */
function keepItems(
  list: MutableJson[],
  schema: StructuralSchema,
  path: string,
  unknown: UnknownFields,
): void {
  const { items } = schema;
  if (items === undefined) return;
  const kept = { ...items, "x-kubernetes-preserve-unknown-fields": true };
  for (const [index, item] of list.entries()) {
    const itemPath = `${path}[${index}]`;
    pruneValue(item, kept, { isResource: isEmbedded(items), path: itemPath }, unknown);
  }
}

function remove(
  object: MutableJsonObject,
  name: string,
  place: Place,
  unknown: UnknownFields,
): void {
  // The decoder has already spoken of a root's own meta fields.
  if (!isMetaField(name) || place.path !== "") {
    unknown.add(childPath(place.path, name));
  }
  delete object[name];
}
