import { isJsonArray, isJsonObject, setMember, type Json, type MutableJson } from "@keelson/base";

import type { FieldSet } from "./field-set.ts";
import { elementOf } from "./list-items.ts";
import { formOf, memberType, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/**
 * The value without the fields and items of a set. A container that loses all it has becomes null, as do atomic
 * ones of which the set names a part; a scalar stays whatever the set says below it.
 *
 * What loses nothing is the value itself, not a copy.
 */
export function removeItems(type: MergeType, value: Json, set: FieldSet): Json {
  switch (formOf(type, value)) {
    case "map":
      return type.map === undefined ? value : removeFromMap(type.map, value, set);
    case "list":
      return type.list === undefined ? value : removeFromList(type.list, value, set);
    case "scalar":
    case undefined:
      return value;
  }
}

function removeFromMap(map: MapType, value: Json, set: FieldSet): Json {
  if (!isJsonObject(value) || map.isAtomic) return null;
  let changed = false;
  const kept: Record<string, Json> = {};
  let count = 0;
  for (const key in value) {
    const member = value[key];
    if (member === undefined) continue;
    const node = set.fields.get(key);
    if (node?.isMember === true) {
      changed = true;
      continue;
    }
    const type = memberType(map, key);
    const rest =
      node?.children === undefined || node.children.isEmpty || type === undefined
        ? member
        : removeItems(type, member, node.children);
    if (rest !== member) changed = true;
    setMember(kept as { [key: string]: MutableJson }, key, rest as MutableJson);
    count += 1;
  }
  if (count === 0) return null;
  return changed ? kept : value;
}

function removeFromList(list: ListType, value: Json, set: FieldSet): Json {
  if (!isJsonArray(value) || value.length === 0 || list.isAtomic) return null;
  let changed = false;
  const kept: Json[] = [];
  for (const item of value) {
    const element = elementOf(list, item);
    const node = typeof element === "string" ? undefined : set.items.get(element.text);
    if (node?.isMember === true) {
      changed = true;
      continue;
    }
    const rest =
      node?.children === undefined || node.children.isEmpty
        ? item
        : removeItems(list.item, item, node.children);
    if (rest !== item) changed = true;
    kept.push(rest);
  }
  if (kept.length === 0) return null;
  return changed ? kept : value;
}
