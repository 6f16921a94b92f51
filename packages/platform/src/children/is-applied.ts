// Whether an apply would change anything, judged from the object as it was seen. A restart looks at every child of every
// app, and must not write one of them.

import { jsonEqual, isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";

import { fieldManager } from "./child.ts";

/** Who wrote which fields, as the object has it: `f:name` a member, `k:{…}` an item by its keys, `v:…` an item of a set. */
type Fields = JsonObject;

/**
 * True if the object has every value that is desired, all of them are ours, and we have no other: then an apply would
 * neither set, take nor give up a field.
 */
export function isApplied(desired: DynamicObject, live: DynamicObject): boolean {
  const entry = (live.metadata.managedFields ?? []).find(
    ({ manager, operation, subresource }) =>
      manager === fieldManager && operation === "Apply" && (subresource ?? "") === "",
  );
  const fields = entry?.["fieldsV1"];
  if (!isJsonObject(fields)) return false;
  const { apiVersion: _version, kind: _kind, metadata, ...content } = desired;
  const { name: _name, namespace: _namespace, ...ours } = metadata as JsonObject;
  return isHeld({ ...content, metadata: ours }, live, fields);
}

function isHeld(desired: Json, live: Json | undefined, fields: Fields): boolean {
  const members = Object.keys(fields).filter((key) => key !== ".");
  // A leaf, or a list or object that is ours as a whole.
  if (members.length === 0) return live !== undefined && holds(live, desired);
  if (isJsonObject(desired)) {
    return (
      isJsonObject(live) &&
      members.every((key) => key.startsWith("f:") && Object.hasOwn(desired, key.slice(2))) &&
      Object.entries(desired).every(([name, value]) => {
        const below = fields[`f:${name}`];
        return isJsonObject(below) && isHeld(value, live[name], below);
      })
    );
  }
  if (!isJsonArray(desired) || !isJsonArray(live)) return false;
  return (
    desired.length === members.length &&
    members.every((key) => {
      const found = itemOf(desired, key);
      return found !== undefined && isHeld(found, itemOf(live, key), (fields[key] ?? {}) as Fields);
    })
  );
}

/** The item of a list that a key of managed fields names. */
function itemOf(items: readonly Json[], key: string): Json | undefined {
  const named = valueIn(key);
  if (named === undefined) return undefined;
  if (key.startsWith("v:")) return items.find((item) => jsonEqual(item, named));
  if (!isJsonObject(named)) return undefined;
  return items.find((item) => isJsonObject(item) && holds(item, named));
}

/** Undefined for a key that names no item: an apply then writes all of them anew. */
function valueIn(key: string): Json | undefined {
  if (!key.startsWith("v:") && !key.startsWith("k:")) return undefined;
  try {
    return JSON.parse(key.slice(2)) as Json;
  } catch {
    return undefined;
  }
}

/** Whether `live` has what is desired, and perhaps defaults besides. */
function holds(live: Json | undefined, desired: Json): boolean {
  if (isJsonObject(desired)) {
    return (
      isJsonObject(live) &&
      Object.entries(desired).every(([name, value]) => holds(live[name], value))
    );
  }
  if (isJsonArray(desired)) {
    return (
      isJsonArray(live) &&
      live.length === desired.length &&
      desired.every((value, index) => holds(live[index], value))
    );
  }
  return live !== undefined && jsonEqual(live, desired);
}
