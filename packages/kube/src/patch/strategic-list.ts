// Lists of a strategic merge patch: scalars as a set, objects by their merge key.

import {
  isJsonArray,
  isJsonObject,
  type Json,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { printType, printValue } from "../go-text/go-print.ts";
import { memberOf } from "../object/member.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { unexplained, unprocessable } from "../status/failures.ts";
import { directive, withoutDirectives } from "./strategic-directives.ts";
import type { PatchField } from "./strategic-field.ts";
import { comparable, orderMerged, partition, sameScalar } from "./strategic-order.ts";

type MergeObject = (
  original: MutableJsonObject,
  patch: MutableJsonObject,
  schema: StructuralSchema | undefined,
) => MutableJsonObject;

interface ListMerge {
  readonly field: PatchField;
  /** Whether the patch lists scalars to take away. */
  readonly isDeletion: boolean;
  readonly mergeObject: MergeObject;
}

/** Merges a patch into a list, both of which belong to us. */
export function mergeList(
  original: MutableJson[],
  patch: MutableJson[],
  { field, isDeletion, mergeObject }: ListMerge,
): MutableJson[] {
  if (original.length === 0 && patch.length === 0) return original;
  if (!holdsObjects(original, patch)) {
    if (isDeletion) {
      const deleted = new Set(patch.map(comparable));
      return original.filter((item) => !deleted.has(comparable(item)));
    }
    const merged = unique([...original, ...patch]);
    const scalars = { mergeKey: undefined };
    const { named, others } = partition(merged, patch, scalars);
    return orderMerged(named, others, { patch, server: original }, scalars);
  }
  const { mergeKey } = field;
  if (mergeKey === undefined) {
    throw unexplained(`cannot merge lists without merge key for ${goKind(field.schema)}`);
  }
  const rest = carryOutDirectives(original, patch, mergeKey);
  const merged = mergeItems(rest.original, rest.patch, { mergeKey, field, mergeObject });
  requireMergeKeys(mergeKey, merged, rest.patch);
  const kinship = { mergeKey };
  const { named, others } = partition(merged, rest.patch, kinship);
  return orderMerged(named, others, { patch: rest.patch, server: rest.original }, kinship);
}

/** Merges a list and puts it into the order that the patch asks for. Undefined if there is nothing to order. */
export function mergeOrderedLists(
  original: MutableJson[] | undefined,
  patch: MutableJson[] | undefined,
  {
    order,
    field,
    mergeObject,
  }: {
    readonly order: readonly Json[];
    readonly field: PatchField;
    readonly mergeObject: MergeObject;
  },
): MutableJson[] | undefined {
  checkOrder(patch ?? [], order, field.mergeKey);
  const server = serverOrder(original ?? [], patch ?? [], field);
  let merged: MutableJson[];
  if (original !== undefined && patch !== undefined) {
    merged =
      field.strategy === "merge"
        ? mergeList(original, patch, { field, isDeletion: false, mergeObject })
        : patch;
  } else if (original !== undefined) {
    merged = original;
  } else if (patch !== undefined) {
    merged = withoutDirectives(patch) as MutableJson[];
  } else {
    return undefined;
  }
  if (server.length === 0 && (patch ?? []).length === 0) {
    throw unexplained("no elements in any of the given slices");
  }
  const isOfObjects = holdsObjects(server, patch ?? []);
  const kinship = { mergeKey: isOfObjects ? field.mergeKey : undefined };
  if (field.mergeKey !== undefined) requireMergeKeys(field.mergeKey, merged, order);
  const { named, others } = partition(merged, order, { mergeKey: field.mergeKey });
  return orderMerged(named, others, { patch: order, server }, kinship);
}

/**
 * The order of the server, by which a merged list is arranged: as Go leaves it in memory. Deleting moves the rest up and keeps
 * the room, and what is added fills it: only what finds no room there has no place in the order.
 */
function serverOrder(
  original: readonly MutableJson[],
  patch: readonly MutableJson[],
  { mergeKey, strategy }: PatchField,
): readonly MutableJson[] {
  const directives = patch.map((item) => (isJsonObject(item) ? item[directive] : undefined));
  if (mergeKey === undefined || strategy !== "merge") return original;
  if (!directives.includes("delete") || directives.includes("replace")) return original;
  const keyOfItem = (item: MutableJson): unknown =>
    comparable(isJsonObject(item) ? (memberOf(item, mergeKey) ?? null) : null);
  const deletions = patch.filter((_, index) => directives[index] === "delete").map(keyOfItem);
  const { kept, room } = takeOut(original, deletions, keyOfItem);
  const seen = new Set(kept.map(keyOfItem));
  const order = [...kept, ...room];
  let length = kept.length;
  for (const [index, item] of patch.entries()) {
    if (length === order.length) break;
    const key = keyOfItem(item);
    if (directives[index] !== undefined || seen.has(key)) continue;
    seen.add(key);
    order[length] = item;
    length += 1;
  }
  return order;
}

/** Takes items out of a list, one key after the other, each from the back: each time the last item stays behind in the room. */
function takeOut(
  items: readonly MutableJson[],
  keys: readonly unknown[],
  keyOfItem: (item: MutableJson) => unknown,
): { readonly kept: readonly MutableJson[]; readonly room: readonly MutableJson[] } {
  const places = new Map<unknown, number[]>();
  for (const [place, item] of items.entries()) {
    const key = keyOfItem(item);
    const same = places.get(key);
    if (same === undefined) places.set(key, [place]);
    else same.push(place);
  }
  const isKept = items.map(() => true);
  const room: MutableJson[] = [];
  let last = items.length - 1;
  for (const key of keys) {
    for (const place of (places.get(key) ?? []).toReversed()) {
      room.push(items[last] ?? null);
      isKept[place] = false;
      while (last >= 0 && isKept[last] === false) last -= 1;
    }
    places.delete(key);
  }
  return { kept: items.filter((_, place) => isKept[place] === true), room: room.reverse() };
}

/** Takes `$patch: delete` items out of the original, and makes `$patch: replace` the whole list. */
function carryOutDirectives(
  original: MutableJson[],
  patch: readonly MutableJson[],
  mergeKey: string,
): { readonly original: MutableJson[]; readonly patch: MutableJson[] } {
  const deleted = new Set<unknown>();
  let replaces = false;
  const plain: MutableJson[] = [];
  for (const item of patch) {
    const word = isJsonObject(item) ? memberOf(item, directive) : undefined;
    if (word === undefined || !isJsonObject(item)) {
      plain.push(item);
    } else if (word === "delete") {
      const value = memberOf(item, mergeKey);
      if (value === undefined) throw noMergeKey(item, mergeKey);
      deleted.add(comparable(value));
    } else if (word === "replace") {
      replaces = true;
    } else if (word === "merge") {
      throw unexplained("merging lists cannot yet be specified in the patch");
    } else {
      throw unexplained(`unknown patch type: ${printValue(word)} in map: ${printValue(item)}`);
    }
  }
  if (replaces) return { original: plain, patch: [] };
  const kept = original.filter((item) => !deleted.has(comparable(keyOf(item, mergeKey))));
  return { original: kept, patch: plain };
}

function mergeItems(
  original: readonly MutableJson[],
  patch: readonly MutableJson[],
  {
    mergeKey,
    field,
    mergeObject,
  }: { readonly mergeKey: string; readonly field: PatchField; readonly mergeObject: MergeObject },
): MutableJson[] {
  const merged = [...original];
  const positions = new Map<unknown, number>();
  const remember = (item: Json, position: number): void => {
    const key = comparable(keyOf(item, mergeKey));
    if (key !== undefined && !positions.has(key)) positions.set(key, position);
  };
  for (const [position, item] of merged.entries()) remember(item, position);
  for (const item of patch) {
    if (!isJsonObject(item)) continue;
    const value = memberOf(item, mergeKey);
    if (value === undefined) throw noMergeKey(item, mergeKey);
    const position = positions.get(comparable(value)) ?? merged.length;
    const current = merged[position];
    merged[position] = isJsonObject(current) ? mergeObject(current, item, field.schema) : item;
    remember(item, position);
  }
  return merged;
}

/** The items of the patch must be in the order they ask for. */
function checkOrder(
  patch: readonly MutableJson[],
  order: readonly Json[],
  mergeKey: string | undefined,
): void {
  if (patch.length === 0 || order.length === 0) return;
  const word = (item: Json): Json | undefined =>
    isJsonObject(item) ? memberOf(item, directive) : undefined;
  const items = mergeKey === undefined ? patch : patch.filter((item) => word(item) !== "delete");
  let next = 0;
  let wanted = 0;
  while (next < items.length && wanted < order.length) {
    const item = items[next] ?? null;
    if (word(item) !== undefined) {
      next += 1;
      continue;
    }
    if (sameScalar(orderKey(item, mergeKey), orderKey(order[wanted] ?? null, mergeKey))) next += 1;
    wanted += 1;
  }
  // Also an item with a directive may not stand after the last that the order names.
  if (next < items.length) {
    throw unexplained(
      `The order in patch list:\n${printValue(patch)}\n doesn't match $setElementOrder list:\n${printValue(order)}\n`,
    );
  }
}

function orderKey(item: Json, mergeKey: string | undefined): Json {
  if (mergeKey === undefined) return item;
  if (!isJsonObject(item)) {
    throw unexplained(`expected a map[string]interface {}, but received a ${printType(item)}`);
  }
  const value = memberOf(item, mergeKey);
  if (value === undefined) throw noMergeKey(item, mergeKey);
  return value;
}

/** Whether the items are objects. All items of both lists must be of one type. */
function holdsObjects(...lists: readonly (readonly Json[])[]): boolean {
  let first: string | undefined;
  for (const item of lists.flat()) {
    const type = printType(item);
    first ??= type;
    if (isJsonArray(item) && type === first) throw unprocessable();
    if (type !== first) {
      throw unexplained(
        `list element types are not identical: [${lists.map((list) => printValue(list)).join(" ")}]`,
      );
    }
  }
  return first === "map[string]interface {}";
}

function requireMergeKeys(mergeKey: string, ...lists: readonly (readonly Json[])[]): void {
  for (const item of lists.flat()) {
    if (isJsonObject(item) && memberOf(item, mergeKey) === undefined) {
      throw noMergeKey(item, mergeKey);
    }
  }
}

function noMergeKey(item: Json, mergeKey: string): Error {
  return unexplained(`map: ${printValue(item)} does not contain declared merge key: ${mergeKey}`);
}

function keyOf(item: Json, mergeKey: string): Json | undefined {
  return isJsonObject(item) ? memberOf(item, mergeKey) : undefined;
}

function unique(items: readonly MutableJson[]): MutableJson[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const key = comparable(item);
    return !seen.has(key) && seen.add(key).has(key);
  });
}

/** What Go calls the type of an item in this message. */
function goKind(schema: StructuralSchema | undefined): string {
  return schema?.properties === undefined ? "map" : "struct";
}
