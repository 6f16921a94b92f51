// The fields of an applied configuration, in the form in which they are stored.
//
// Almost every apply names what its manager owns already, and most others differ in a few places. So the stored set
// of last time is walked along, and whatever is as it was is taken from it: what is the same object needs no second
// look.

import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";

import { compareBytes } from "../go-text/byte-order.ts";
import { compareItemElements } from "./item-element.ts";
import { elementOf, elementText } from "./list-items.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";
import { isEmptyOrNull } from "./to-field-set.ts";

/** Fields of a map that count for nothing; below them, fields of those maps, which do not count themselves. */
export interface Ignored {
  readonly names: ReadonlySet<string>;
  readonly inside: ReadonlyMap<string, Ignored>;
}

/**
 * The stored form of the field set of a configuration without items of the same keys, but for what is ignored. It is
 * `last` itself if that is the same, and shares with it what is the same.
 */
export function storedFieldsOf(
  map: MapType,
  config: JsonObject,
  last: JsonObject,
  ignored: Ignored,
): JsonObject {
  const keys: string[] = [];
  const root = mapNode({ keys, isMember: false, last }, map, config, ignored);
  return root ?? leafAt(last);
}

/** What is known of a node before its inside. */
interface Place {
  /** The keys of the nodes above, and here of those so far: one list for the whole walk. */
  readonly keys: string[];
  /** Whether the node is in the set itself. */
  readonly isMember: boolean;
  /** What was stored last time. */
  readonly last: JsonObject | undefined;
}

const leaf: JsonObject = Object.freeze({});

/** Undefined if nothing of it is in the set. */
function nodeOf(place: Place, type: MergeType, value: Json): JsonObject | undefined {
  switch (formOf(type, value)) {
    case "scalar":
      return leafAt(place.last);
    case "map":
      if (type.map?.isAtomic === true) return leafAt(place.last);
      if (type.map === undefined || !isJsonObject(value)) return emptyAt(place);
      return mapNode(place, type.map, value, undefined);
    case "list":
      if (type.list?.isAtomic === true) return leafAt(place.last);
      if (type.list === undefined || !isJsonArray(value)) return emptyAt(place);
      return listNode(place, type.list, value);
    case undefined:
      return emptyAt(place);
  }
}

function leafAt(last: JsonObject | undefined): JsonObject {
  if (last === undefined) return leaf;
  for (const _ in last) return leaf;
  return last;
}

function emptyAt({ isMember, last }: Place): JsonObject | undefined {
  return isMember ? leafAt(last) : undefined;
}

function mapNode(
  place: Place,
  map: MapType,
  value: JsonObject,
  ignored: Ignored | undefined,
): JsonObject | undefined {
  const { keys } = place;
  const start = keys.length;
  let nodes: Nodes | undefined;
  for (const name in value) {
    const member = value[name];
    if (member === undefined || ignored?.names.has(name) === true) continue;
    const field = map.fields.get(name);
    const key = field?.key ?? `f:${name}`;
    const last = childOf(place.last, key);
    const node =
      typeof member === "object" || field?.type.scalar === undefined
        ? memberNode(place, map, name, member, ignored?.inside.get(name))
        : leafAt(last);
    if (node === undefined) continue;
    keys.push(key);
    if (node !== last) (nodes ??= new Map()).set(key, node);
  }
  return finish(place, start, nodes, sortedFields);
}

function memberNode(
  { keys, last }: Place,
  map: MapType,
  name: string,
  member: Json,
  ignored: Ignored | undefined,
): JsonObject | undefined {
  const field = map.fields.get(name);
  const type = field?.type ?? map.other;
  const isMember = ignored === undefined && (field === undefined || isEmptyOrNull(member));
  const place: Place = { keys, isMember, last: childOf(last, field?.key ?? `f:${name}`) };
  if (type === undefined) return emptyAt(place);
  if (ignored !== undefined && type.map?.isAtomic === false && isJsonObject(member)) {
    return mapNode(place, type.map, member, ignored);
  }
  return nodeOf(place, type, member);
}

function listNode(place: Place, list: ListType, value: readonly Json[]): JsonObject | undefined {
  const { keys } = place;
  const start = keys.length;
  let nodes: Nodes | undefined;
  for (const item of value) {
    const key = elementText(list, item);
    if (key === undefined) continue;
    const last = childOf(place.last, key);
    const node = nodeOf({ keys, isMember: true, last }, list.item, item);
    if (node === undefined) continue;
    keys.push(key);
    if (node !== last) (nodes ??= new Map()).set(key, node);
  }
  return finish(place, start, nodes, () => sortedItems(list, value));
}

/** The nodes that are not what they were. */
type Nodes = Map<string, JsonObject>;

function childOf(last: JsonObject | undefined, key: string): JsonObject | undefined {
  const node = last?.[key];
  return isJsonObject(node) ? node : undefined;
}

/** The node with the keys from `start` on, which are taken away; undefined if it says nothing. */
function finish(
  place: Place,
  start: number,
  nodes: Nodes | undefined,
  sorted: (keys: readonly string[]) => readonly string[],
): JsonObject | undefined {
  const { keys, isMember, last } = place;
  const count = keys.length - start;
  if (count === 0) return emptyAt(place);
  const isAsBefore = nodes === undefined && last !== undefined && countInside(last) === count;
  if (isAsBefore && (last["."] !== undefined) === isMember) {
    keys.length = start;
    return last;
  }
  const result: MutableJsonObject = {};
  if (isMember) result["."] = leaf as MutableJsonObject;
  for (const key of sorted(keys.splice(start))) {
    const node = nodes?.get(key) ?? childOf(last, key);
    if (node !== undefined) result[key] = node as MutableJsonObject;
  }
  return result;
}

/** Keys of one prefix are in the order of what follows it. */
function sortedFields(keys: readonly string[]): readonly string[] {
  return keys.toSorted(compareBytes);
}

function sortedItems(list: ListType, value: readonly Json[]): readonly string[] {
  return value
    .map((item) => elementOf(list, item))
    .filter((element) => typeof element !== "string")
    .sort(compareItemElements)
    .map(({ text }) => text);
}

function countInside(stored: JsonObject): number {
  let count = 0;
  for (const key in stored) if (key !== ".") count += 1;
  return count;
}
