// Merges what is applied into what is there. Nothing is removed by it.

import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  setMember,
  type Json,
  type JsonObject,
  type MutableJson,
} from "@keelson/base";

import { memberOf } from "../object/member.ts";
import type { ItemElement } from "./item-element.ts";
import { elementOf, sameOrder } from "./list-items.ts";
import { formOf, memberType, type ListType, type MapType, type MergeType } from "./merge-type.ts";

/**
 * What `config` makes of `live`, both of a type that they fit. Where they agree the result is `live` itself, not a
 * copy: comparing the two then costs nothing. Neither is changed.
 */
export function mergeTyped(type: MergeType, live: Json, config: Json): Json {
  if (live === config) return live;
  switch (formOf(type, config)) {
    case "map":
      return type.map === undefined ? config : mergeMaps(type.map, live, config);
    case "list":
      return type.list === undefined ? config : mergeLists(type.list, live, config);
    case "scalar":
    case undefined:
      return mergeLeaves(live, config);
  }
}

function mergeLeaves(live: Json, config: Json): Json {
  return jsonEqual(live, config) ? live : config;
}

function mergeMaps(map: MapType, live: Json, config: Json): Json {
  const left = isJsonObject(live) ? live : undefined;
  const right = isJsonObject(config) ? config : undefined;
  // Empty ones are leaves: so the difference between null and {} is kept.
  if (map.isAtomic || (isEmpty(left) && isEmpty(right))) return mergeLeaves(live, config);
  if (right === undefined || isEmpty(right)) return left === undefined ? config : left;
  if (left === undefined) return config;

  let result: Record<string, Json> | undefined;
  for (const key in right) {
    const value = right[key];
    if (value === undefined) continue;
    const current = memberOf(left, key);
    const merged =
      current === undefined ? value : mergeMember(memberType(map, key), current, value);
    if (merged === current) continue;
    result ??= copyOf(left);
    setMember(result as { [key: string]: MutableJson }, key, merged as MutableJson);
  }
  return result ?? left;
}

function mergeMember(type: MergeType | undefined, live: Json, config: Json): Json {
  return type === undefined ? mergeLeaves(live, config) : mergeTyped(type, live, config);
}

function mergeLists(list: ListType, live: Json, config: Json): Json {
  const left = isJsonArray(live) ? live : undefined;
  const right = isJsonArray(config) ? config : undefined;
  if (list.isAtomic || (isEmpty(left) && isEmpty(right))) return mergeLeaves(live, config);
  if (right === undefined || right.length === 0) return left ?? config;
  if (left === undefined || left.length === 0) return config;
  return sameOrder(list, left, right)
    ? mergePairwise(list, left, right)
    : mergeItems(list, left, right);
}

/** The usual case: what is applied names the items as they stand. It has no duplicates, so neither has the other. */
function mergePairwise(list: ListType, left: readonly Json[], right: readonly Json[]): Json {
  let result: Json[] | undefined;
  for (let i = 0; i < left.length; i++) {
    const current = left[i] ?? null;
    const merged = mergeTyped(list.item, current, right[i] ?? null);
    if (merged !== current) (result ??= [...left])[i] = merged;
  }
  return result ?? left;
}

/** One side of a list: its items by element, in order. */
interface Side {
  readonly elements: readonly ItemElement[];
  readonly items: ReadonlyMap<string, Json>;
}

/**
 * Items of both, in an order that agrees with `right` and, as far as that allows, with `left`: an item of one side
 * stands where it stood between its neighbours.
 */
function mergeItems(list: ListType, left: readonly Json[], right: readonly Json[]): Json {
  const there = sideOf(list, left);
  const coming = sideOf(list, right);
  const shared = coming.elements.filter(({ text }) => there.items.has(text));
  let nextShared = 0;
  const done = new Set<string>();
  const result: Json[] = [];
  const take = (element: ItemElement): void => {
    done.add(element.text);
    const theirs = coming.items.get(element.text) ?? null;
    const ours = there.items.get(element.text);
    result.push(ours === undefined ? theirs : mergeTyped(list.item, ours, theirs));
    if (shared[nextShared]?.text === element.text) nextShared += 1;
  };

  let l = 0;
  let r = 0;
  while (l < left.length || r < coming.elements.length) {
    const ours = there.elements[l];
    const theirs = coming.elements[r];
    if (ours !== undefined && theirs !== undefined) {
      if (ours.text === theirs.text) {
        done.add(ours.text);
        const item = coming.items.get(ours.text) ?? null;
        const current = there.items.get(ours.text) ?? null;
        result.push(mergeTyped(list.item, current, item));
        l += 1;
        r += 1;
        nextShared += 1;
        continue;
      }
      const wanted = shared[nextShared];
      if (coming.items.has(ours.text) && wanted !== undefined && wanted.text !== ours.text) {
        l += 1; // In both, but its turn is not now.
        continue;
      }
    }
    if (ours !== undefined) {
      if (!coming.items.has(ours.text)) {
        result.push(left[l] ?? null);
        l += 1;
        continue;
      }
      if (done.has(ours.text)) l += 1;
    }
    if (theirs !== undefined) {
      take(theirs);
      r += 1;
    }
  }
  return sameItems(left, result) ? left : result;
}

function sideOf(list: ListType, values: readonly Json[]): Side {
  const elements: ItemElement[] = [];
  const items = new Map<string, Json>();
  for (const value of values) {
    const element = elementOf(list, value);
    if (typeof element === "string") continue;
    // Items that cannot be told apart are not merged into: the new one replaces them.
    items.set(element.text, items.has(element.text) ? null : value);
    elements.push(element);
  }
  return { elements, items };
}

function sameItems(a: readonly Json[], b: readonly Json[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

function isEmpty(value: JsonObject | readonly Json[] | undefined): boolean {
  if (value === undefined) return true;
  if (isJsonArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

function copyOf(object: JsonObject): Record<string, Json> {
  return { ...object };
}
