// A stored field set that is worked on as it is stored.
//
// Most writes leave most sets as they are. Reading each into a `FieldSet` and writing it again would cost more than
// all the rest of an apply, so the usual questions are answered on the stored form itself.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { FieldSet, type PathStep, type SetNode } from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1, storedKeyOf } from "./fields-v1.ts";
import { BadPathElement, parseItemElement } from "./item-element.ts";
import { formOf, type ListType, type MapType, type MergeType } from "./merge-type.ts";
import { hasInside, isMember } from "./stored-node.ts";

/** What a manager owns: the same set in two forms, each made when it is first asked for. Never changes. */
export class OwnedFields {
  #stored: JsonObject | undefined;
  #set: FieldSet | undefined;

  private constructor(stored: JsonObject | undefined, set: FieldSet | undefined) {
    this.#stored = stored;
    this.#set = set;
  }

  static of(set: FieldSet): OwnedFields {
    return new OwnedFields(undefined, set);
  }

  /** From `fieldsV1` that somebody sent. Throws a `BadPathElement` if a key names nothing. */
  static read(value: Json): OwnedFields {
    if (isJsonObject(value) && isCanonical(value)) return new OwnedFields(value, undefined);
    return OwnedFields.of(decodeFieldsV1(value));
  }

  /** From `fieldsV1` as we wrote it. A key that names nothing after all is found when it matters. */
  static trust(value: JsonObject): OwnedFields {
    return new OwnedFields(value, undefined);
  }

  /** `fieldsV1`; shared, not to be changed. */
  get stored(): JsonObject {
    return (this.#stored ??= encodeFieldsV1(this.set));
  }

  get set(): FieldSet {
    return (this.#set ??= decodeFieldsV1(this.#stored ?? {}));
  }

  get isEmpty(): boolean {
    if (this.#set !== undefined) return this.#set.isEmpty;
    for (const _ in this.#stored) return false;
    return true;
  }

  /** The paths that are in both. */
  intersection(other: FieldSet): FieldSet {
    return this.#set === undefined ? intersect(this.stored, other) : this.#set.intersection(other);
  }

  /** The set without the paths of the other; itself if none is in it. */
  difference(other: FieldSet): OwnedFields {
    if (this.#stored === undefined) {
      const rest = this.set.difference(other);
      return rest === this.#set ? this : OwnedFields.of(rest);
    }
    const rest = subtract(this.#stored, other);
    return rest === this.#stored ? this : new OwnedFields(rest, undefined);
  }

  /** The paths in both or in either; itself if it has all of them, as almost always. */
  union(other: FieldSet): OwnedFields {
    return covers(this.stored, other) ? this : OwnedFields.of(other.union(this.set));
  }

  /** Whether every path of this set is in the other. */
  isWithin(other: FieldSet): boolean {
    return isCovered(this.stored, other);
  }

  /** Whether the sets are the same. */
  equals(other: FieldSet): boolean {
    return isCovered(this.stored, other) && countStored(this.stored) === countSet(other);
  }

  has(path: readonly PathStep[]): boolean {
    return this.set.has(path);
  }

  /** Whether a part of something atomic is owned, so that the set must be brought in line with its schema. */
  needsReconciling(type: MergeType): boolean {
    return hasPartOfAtomic(type, this.stored);
  }
}

/** Whether writing the set anew would give just this, but for the order of keys. Throws for what names nothing. */
function isCanonical(value: JsonObject): boolean {
  for (const key in value) {
    const inner = value[key];
    if (!isJsonObject(inner)) return false;
    if (key === ".") continue;
    if (!isPlainKey(key)) {
      const element = parseItemElement(key);
      if (element?.text !== key) return false;
    }
    if (isOnlySelf(inner) || !isCanonical(inner)) return false;
  }
  return true;
}

function isPlainKey(key: string): boolean {
  const kind = key.charCodeAt(0);
  if (key.charCodeAt(1) !== 58) throw new BadPathElement(key);
  return kind === 102 || /^k:\{"\w+":"[\w./-]*"\}$/.test(key);
}

/** `{".":{}}`, which is written `{}`. */
function isOnlySelf(value: JsonObject): boolean {
  let hasSelf = false;
  for (const key in value) {
    if (key !== ".") return false;
    hasSelf = true;
  }
  return hasSelf;
}

function child(value: JsonObject, step: PathStep): JsonObject | undefined {
  const inner = value[storedKeyOf(step)];
  return inner === undefined ? undefined : (inner as JsonObject);
}

function* nodesOf(set: FieldSet): Generator<readonly [PathStep, SetNode]> {
  yield* set.fields;
  for (const node of set.items.values()) yield [node.element, node];
}

/** At most so many nodes are looked up one by one, without asking what else there is. */
const fewNodes = 16;

/** What a set says of the keys of a stored one; of a small set all. Many small sets may meet one large change. */
function nodesWithin(set: FieldSet, value: JsonObject): Iterable<readonly [PathStep, SetNode]> {
  return set.fields.size + set.items.size <= fewNodes ? nodesOf(set) : nodesByKey(set, value);
}

function* nodesByKey(set: FieldSet, value: JsonObject): Generator<readonly [PathStep, SetNode]> {
  for (const key in value) {
    if (key.startsWith("f:")) {
      const name = key.slice(2);
      const node = set.fields.get(name);
      if (node !== undefined) yield [name, node];
    } else {
      const node = set.items.get(key);
      if (node !== undefined) yield [node.element, node];
    }
  }
}

function intersect(value: JsonObject, other: FieldSet): FieldSet {
  const result = new FieldSet();
  for (const [step, node] of nodesWithin(other, value)) {
    const inner = child(value, step);
    if (inner === undefined) continue;
    const isBoth = node.isMember && isMember(inner);
    const children = node.children === undefined ? undefined : intersect(inner, node.children);
    const hasChildren =
      children !== undefined && (children.fields.size > 0 || children.items.size > 0);
    if (!isBoth && !hasChildren) continue;
    const made = result.node(step);
    made.isMember = isBoth;
    made.children = hasChildren ? children : undefined;
  }
  return result;
}

function subtract(value: JsonObject, other: FieldSet): JsonObject {
  let changed: Map<string, JsonObject | undefined> | undefined;
  for (const [step, node] of nodesWithin(other, value)) {
    const inner = child(value, step);
    if (inner === undefined) continue;
    const rest = subtractNode(inner, node);
    if (rest !== inner) (changed ??= new Map()).set(storedKeyOf(step), rest);
  }
  if (changed === undefined) return value;
  const result: Record<string, Json> = {};
  for (const key in value) {
    const rest = changed.has(key) ? changed.get(key) : value[key];
    if (rest !== undefined) result[key] = rest;
  }
  return result;
}

/** Undefined if nothing is left. */
function subtractNode(
  value: JsonObject,
  { isMember: takes, children }: SetNode,
): JsonObject | undefined {
  const rest = children === undefined ? value : subtract(value, children);
  const remains = isMember(value) && !takes;
  if (rest === value && remains === isMember(value)) return value;
  if (!hasInside(rest)) return remains ? {} : undefined;
  if (remains) return rest["."] === undefined ? { ".": {}, ...rest } : rest;
  const { ".": _, ...inside } = rest;
  return inside;
}

function covers(value: JsonObject, other: FieldSet): boolean {
  for (const [step, node] of nodesOf(other)) {
    const inner = child(value, step);
    if (inner === undefined) {
      if (node.isMember || node.children?.isEmpty === false) return false;
      continue;
    }
    if (node.isMember && !isMember(inner)) return false;
    if (node.children !== undefined && !covers(inner, node.children)) return false;
  }
  return true;
}

function isCovered(value: JsonObject, by: FieldSet): boolean {
  for (const key in value) {
    if (key === ".") continue;
    const inner = value[key] as JsonObject;
    const node = key.startsWith("f:") ? by.fields.get(key.slice(2)) : by.items.get(key);
    if (node === undefined || (isMember(inner) && !node.isMember)) return false;
    if (!hasInside(inner)) continue;
    if (node.children === undefined || !isCovered(inner, node.children)) return false;
  }
  return true;
}

function countStored(value: JsonObject): number {
  let count = 0;
  for (const key in value) {
    if (key === ".") continue;
    const inner = value[key] as JsonObject;
    count += (isMember(inner) ? 1 : 0) + countStored(inner);
  }
  return count;
}

function countSet(set: FieldSet): number {
  let count = 0;
  for (const node of set.fields.values()) count += countNode(node);
  for (const node of set.items.values()) count += countNode(node);
  return count;
}

function countNode({ isMember, children }: SetNode): number {
  return (isMember ? 1 : 0) + (children === undefined ? 0 : countSet(children));
}

function hasPartOfAtomic(type: MergeType, value: JsonObject): boolean {
  switch (formOf(type, undefined)) {
    case "map":
      return type.map !== undefined && mapHasPart(type.map, value);
    case "list":
      return type.list !== undefined && listHasPart(type.list, value);
    case "scalar":
    case undefined:
      return false;
  }
}

function mapHasPart(map: MapType, value: JsonObject): boolean {
  if (map.isDeduced) return false;
  for (const key in value) {
    if (key.charCodeAt(0) !== 102) continue;
    const inner = value[key] as JsonObject;
    if (!hasInside(inner)) continue;
    const type = map.fieldsByKey.get(key)?.type ?? map.other;
    if (type !== undefined && (isAtomic(type) || hasPartOfAtomic(type, inner))) return true;
  }
  return false;
}

function listHasPart(list: ListType, value: JsonObject): boolean {
  for (const key in value) {
    if (key === ".") continue;
    const inner = value[key] as JsonObject;
    if (!hasInside(inner)) continue;
    if (isAtomic(list.item) || hasPartOfAtomic(list.item, inner)) return true;
  }
  return false;
}

function isAtomic(type: MergeType): boolean {
  const form = formOf(type, undefined);
  if (form === "map") return type.map?.isAtomic === true;
  return form === "list" && type.list?.isAtomic === true;
}
