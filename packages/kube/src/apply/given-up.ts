// What an applier gives up, found by looking only at what it owned last time and does not ask for now.
//
// An apply that drops a container leaves the rest of the object alone. So nothing here is made of the whole object:
// the walk follows the paths that were dropped.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { memberOf } from "../object/member.ts";
import { FieldSet } from "./field-set.ts";
import { parseItemElement } from "./item-element.ts";
import { elementOf } from "./list-items.ts";
import { formOf, memberType, type ListType, type MapType, type MergeType } from "./merge-type.ts";
import { hasInside, isMember } from "./stored-node.ts";
import { toFieldSet } from "./to-field-set.ts";
import { valuesEqual } from "./smd-value.ts";

/** Sets that no apply writes, or items that lose what names them: to be worked out with whole sets. */
export const unusual = Symbol("unusual");

/**
 * The paths of the stored set that are not in the other, each declared field above a path counted as one too.
 * Undefined if there are none. Unusual is a stored set that owns something in an item, or in a member that the schema
 * does not name, but not that itself.
 */
export function droppedFields(
  type: MergeType | undefined,
  stored: JsonObject,
  now: JsonObject | undefined,
): FieldSet | undefined | typeof unusual {
  let result: FieldSet | undefined;
  for (const key in stored) {
    if (key === ".") continue;
    const inner = stored[key] as JsonObject;
    const node = now?.[key] as JsonObject | undefined;
    if (node === inner) continue;
    const field = type?.map?.fieldsByKey.get(key);
    const isDeclared = field !== undefined;
    const isField = isDeclared || key.startsWith("f:");
    const name = field?.name ?? (isField ? key.slice(2) : key);
    const isContainer = hasInside(inner);
    if (!isDeclared && isContainer && inner["."] === undefined) return unusual;
    const isKept = node !== undefined && (isDeclared || isMember(node));
    let children: FieldSet | undefined;
    if (isContainer) {
      const below = isField ? (field?.type ?? type?.map?.other) : itemType(type, key);
      const dropped = droppedFields(below, inner, node);
      if (dropped === unusual) return unusual;
      children = dropped;
    }
    if (isKept && children === undefined) continue;
    const step = isField ? name : parseItemElement(key);
    if (step === undefined) continue;
    const made = (result ??= new FieldSet()).node(step);
    made.isMember = !isKept;
    made.children = children;
  }
  return result;
}

function itemType(type: MergeType | undefined, key: string): MergeType | undefined {
  return key.startsWith("k:") ? type?.list?.item : undefined;
}

/**
 * Those of the dropped paths that the value has and that nobody owns, by the stored sets of all who own something,
 * or that are in something that nobody owns.
 * Undefined if there are none. Unusual are items with the same keys, and owned ones whose keys nobody owns.
 */
export function unownedFields(
  type: MergeType,
  value: Json,
  dropped: FieldSet,
  owners: readonly JsonObject[],
): FieldSet | undefined | typeof unusual {
  switch (formOf(type, value)) {
    case "map":
      if (type.map === undefined || type.map.isAtomic || !isJsonObject(value)) return undefined;
      return unownedMembers(type.map, value, dropped, owners);
    case "list":
      if (type.list === undefined || type.list.isAtomic || !isJsonArray(value)) return undefined;
      return unownedItems(type.list, value, dropped, owners);
    case "scalar":
    case undefined:
      return undefined;
  }
}

function unownedMembers(
  map: MapType,
  value: JsonObject,
  dropped: FieldSet,
  owners: readonly JsonObject[],
): FieldSet | undefined | typeof unusual {
  let result: FieldSet | undefined;
  const inside = insideOf(owners);
  for (const [name, { children }] of dropped.fields) {
    const member = memberOf(value, name);
    if (member === undefined) continue;
    const type = memberType(map, name);
    const isDeclared = map.fields.has(name);
    const within = inside(`f:${name}`);
    if (!isOwned(within, isDeclared)) {
      if (isPresent(map, name, member)) {
        (result ??= new FieldSet()).setField(name, { isMember: true, children: undefined });
      }
    } else if (children !== undefined && type !== undefined) {
      const below = unownedFields(type, member, children, within);
      if (below === unusual) return unusual;
      if (below === undefined) continue;
      (result ??= new FieldSet()).setField(name, { isMember: false, children: below });
    }
  }
  return result;
}

function unownedItems(
  list: ListType,
  value: readonly Json[],
  dropped: FieldSet,
  owners: readonly JsonObject[],
): FieldSet | undefined | typeof unusual {
  let result: FieldSet | undefined;
  const seen = new Set<string>();
  const inside = insideOf(owners);
  for (const item of value) {
    const element = elementOf(list, item);
    if (typeof element === "string") return unusual;
    if (seen.has(element.text)) return unusual;
    seen.add(element.text);
    const within = inside(element.text);
    const what = dropped.items.get(element.text);
    if (!isOwned(within, false)) {
      if (what === undefined) continue;
      (result ??= new FieldSet()).setItem({ element, isMember: true, children: undefined });
      continue;
    }
    if (!keepsItsKeys(list, item, within)) return unusual;
    if (what?.children === undefined) continue;
    const below = unownedFields(list.item, item, what.children, within);
    if (below === unusual) return unusual;
    if (below === undefined) continue;
    (result ??= new FieldSet()).setItem({ element, isMember: false, children: below });
  }
  return result;
}

/** Whether an item would be known by the same keys if all that nobody owns went from it. */
function keepsItsKeys(list: ListType, item: Json, owners: readonly JsonObject[]): boolean {
  if (list.keys.length === 0) return true;
  if (!isJsonObject(item)) return false;
  let isKept = false;
  const inside = insideOf(owners);
  for (const key of list.keys) {
    const value = memberOf(item, key);
    if (value === undefined) continue;
    const field = list.item.map?.fields.get(key);
    if (isOwned(inside(`f:${key}`), field !== undefined)) isKept = true;
    else if (field?.default === undefined || !valuesEqual(field.default, value)) return false;
  }
  return isKept;
}

/** A declared field is owned with anything that is in it. */
function isOwned(owners: readonly JsonObject[], isDeclared: boolean): boolean {
  for (const owner of owners) if (isDeclared || isMember(owner)) return true;
  return false;
}

/** So many sets are asked one by one. */
const fewSets = 16;

/** Says what the stored sets have below a key. */
function insideOf(sets: readonly JsonObject[]): (key: string) => readonly JsonObject[] {
  if (sets.length <= fewSets) {
    return (key) =>
      sets.map((set) => set[key]).filter((inner) => inner !== undefined) as JsonObject[];
  }
  const byKey = new Map<string, JsonObject[]>();
  for (const set of sets) {
    for (const key in set) {
      const known = byKey.get(key);
      if (known === undefined) byKey.set(key, [set[key] as JsonObject]);
      else known.push(set[key] as JsonObject);
    }
  }
  return (key) => byKey.get(key) ?? [];
}

/** Whether the field set of a map says anything of a member. */
function isPresent(map: MapType, name: string, member: Json): boolean {
  const set = toFieldSet({ scalar: undefined, list: undefined, map }, { [name]: member });
  return set.fields.size > 0;
}
