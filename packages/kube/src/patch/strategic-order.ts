// The order of a merged list: that of the patch for what the patch names, that of the server for the rest.

import { isJsonObject, JsonNumber, type Json, type MutableJson } from "@keelson/base";

import { memberOf } from "../object/member.ts";

/** What a list holds: scalars, or objects told apart by a key. */
interface Kinship {
  /** The field that tells objects apart; undefined for scalars. */
  readonly mergeKey: string | undefined;
}

/** Puts a merged list in order. `named` are the items that the order of the patch names, `others` the rest. */
export function orderMerged(
  named: readonly MutableJson[],
  others: readonly MutableJson[],
  orders: { readonly patch: readonly Json[]; readonly server: readonly Json[] },
  kinship: Kinship,
): MutableJson[] {
  const patchIndex = indexOf(orders.patch, kinship);
  const serverIndex = indexOf(orders.server, kinship);
  const right = sortBy(named, patchIndex);
  const left = sortBy(others, serverIndex);
  const result: MutableJson[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const ours = left[l];
    const theirs = right[r];
    if (ours === undefined || (theirs !== undefined && !comesBefore(ours, theirs, serverIndex))) {
      if (theirs !== undefined) result.push(theirs);
      r += 1;
    } else {
      result.push(ours);
      l += 1;
    }
  }
  return result;
}

/** Splits a list by whether an item is in another one. */
export function partition(
  items: readonly MutableJson[],
  by: readonly Json[],
  kinship: Kinship,
): { readonly named: MutableJson[]; readonly others: MutableJson[] } {
  const index = indexOf(by, kinship);
  const named: MutableJson[] = [];
  const others: MutableJson[] = [];
  for (const item of items) (index(item) >= 0 ? named : others).push(item);
  return { named, others };
}

/** Whether two scalars are the same to a strategic merge: 1 and 1.0 are not. */
export function sameScalar(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  return a instanceof JsonNumber && b instanceof JsonNumber && a.valueOf() === b.valueOf();
}

type Index = (item: Json) => number;

/** Where an item stands in a list; -1 if it does not. In one pass: lists may be long. */
function indexOf(list: readonly Json[], { mergeKey }: Kinship): Index {
  const key = (item: Json): Json | undefined => {
    if (mergeKey === undefined) return item;
    return isJsonObject(item) ? memberOf(item, mergeKey) : undefined;
  };
  const positions = new Map<unknown, number>();
  for (const [position, item] of list.entries()) {
    const value = comparable(key(item));
    if (!positions.has(value)) positions.set(value, position);
  }
  return (item) => positions.get(comparable(key(item))) ?? -1;
}

/** A value by which equal scalars are found: `sameScalar` for maps and sets. */
export function comparable(value: Json | undefined): unknown {
  return value instanceof JsonNumber ? `float ${value.valueOf()}` : value;
}

function sortBy(items: readonly MutableJson[], index: Index): MutableJson[] {
  return items.toSorted((a, b) => index(a) - index(b));
}

function comesBefore(a: Json, b: Json, index: Index): boolean {
  const left = index(a);
  const right = index(b);
  return left >= 0 && right >= 0 && left < right;
}
