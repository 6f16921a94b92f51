// Whether an applied configuration names just the fields that its manager owns already.
//
// So it is with almost every apply. Then nothing is given up and nobody's set changes, and neither need be made.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { elementText } from "./list-items.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/** Fields of a map that count for nothing; below them, fields of those maps. */
export interface Ignored {
  readonly names: ReadonlySet<string>;
  readonly inside: ReadonlyMap<string, Ignored>;
}

/**
 * Whether the field set of `value`, but for what is ignored, is the stored one. May say no where they are equal in
 * the end: it looks at what is usual.
 */
export function ownsExactly(
  type: MergeType,
  value: JsonObject,
  stored: JsonObject,
  ignored: Ignored,
): boolean {
  return (
    type.map !== undefined && !type.map.isAtomic && ownsMembers(type.map, value, stored, ignored)
  );
}

function owns(
  type: MergeType,
  value: Json,
  stored: JsonObject,
  ignored: Ignored | undefined,
): boolean {
  switch (formOf(type, value)) {
    case "scalar":
      return isLeaf(stored);
    case "map":
      return type.map !== undefined && ownsMap(type.map, value, stored, ignored);
    case "list":
      return type.list !== undefined && ownsList(type.list, value, stored);
    case undefined:
      return false;
  }
}

function ownsMap(
  map: MapType,
  value: Json,
  stored: JsonObject,
  ignored: Ignored | undefined,
): boolean {
  if (map.isAtomic) return isLeaf(stored);
  return isJsonObject(value) && ownsMembers(map, value, stored, ignored);
}

function ownsMembers(
  map: MapType,
  value: JsonObject,
  stored: JsonObject,
  ignored: Ignored | undefined,
): boolean {
  let count = 0;
  for (const name in value) {
    const member = value[name];
    if (member === undefined || ignored?.names.has(name) === true) continue;
    const field = map.fields.get(name);
    const type = field?.type ?? map.other;
    const inside = ignored?.inside.get(name);
    // An empty list of items is nothing to own, and neither is a map of ignored fields.
    if (type === undefined || isEmptyList(type, member)) {
      if (type === undefined || field === undefined) return false;
      continue;
    }
    const own = stored[field?.key ?? `f:${name}`];
    if (own === undefined) {
      if (inside === undefined || !isJsonObject(member)) return false;
      if (!ownsMap(type.map ?? noMap, member, nothing, inside)) return false;
      continue;
    }
    if (!ownsMember(type, field !== undefined, member, own as JsonObject, inside)) return false;
    count += 1;
  }
  return count === countInside(stored);
}

function ownsMember(
  type: MergeType,
  isNamed: boolean,
  member: Json,
  own: JsonObject,
  inside: Ignored | undefined,
): boolean {
  // Most are scalars, and one leaf whatever their type.
  if (typeof member !== "object") return isLeaf(own);
  if (member === null || isEmptyObject(member)) return isLeaf(own);
  // A member that the schema does not name is itself owned, besides what is in it.
  if (isContainer(type, member)) {
    return (own["."] !== undefined) === !isNamed && owns(type, member, own, inside);
  }
  return isLeaf(own);
}

function ownsList(list: ListType, value: Json, stored: JsonObject): boolean {
  if (list.isAtomic) return isLeaf(stored);
  // First, because it is cheap: an apply that adds or gives up an item need not be looked at further.
  if (!isJsonArray(value) || value.length !== countInside(stored)) return false;
  for (const item of value) {
    const text = elementText(list, item);
    if (text === undefined) return false;
    const own = stored[text];
    if (own === undefined) return false;
    if (!ownsItem(list, item, own as JsonObject)) return false;
  }
  return true;
}

/** Items are owned themselves, besides what is in them. */
function ownsItem(list: ListType, item: Json, own: JsonObject): boolean {
  if (!isContainer(list.item, item) || isEmptyObject(item)) return isLeaf(own);
  return own["."] !== undefined && owns(list.item, item, own, undefined);
}

/** Whether the value is walked into, and not one leaf. */
function isContainer(type: MergeType, value: Json): boolean {
  const form = formOf(type, value);
  if (form === "map") return type.map?.isAtomic === false && isJsonObject(value);
  return form === "list" && type.list?.isAtomic === false && isJsonArray(value);
}

function isEmptyList(type: MergeType, value: Json): boolean {
  return isJsonArray(value) && value.length === 0 && type.list?.isAtomic === false;
}

function isEmptyObject(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

function isLeaf(stored: JsonObject): boolean {
  for (const _ in stored) return false;
  return true;
}

function countInside(stored: JsonObject): number {
  let count = 0;
  for (const key in stored) if (key !== ".") count += 1;
  return count;
}

const nothing: JsonObject = Object.freeze({});
const noMap: MapType = {
  isAtomic: false,
  fields: new Map(),
  fieldsByKey: new Map(),
  other: undefined,
  isDeduced: false,
};
