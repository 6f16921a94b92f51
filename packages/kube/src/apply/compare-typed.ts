// What changed between two values of a type, as field sets.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { memberOf } from "../object/member.ts";
import { FieldSet, type PathStep } from "./field-set.ts";
import type { ItemElement } from "./item-element.ts";
import { areApart, elementOf, identityOf, sameOrder } from "./list-items.ts";
import {
  formOf,
  memberType,
  type ListType,
  type MapType,
  type MergeForm,
  type MergeType,
} from "./merge-type.ts";
import { scalarProblem } from "./typed-errors.ts";
import { valuesEqual } from "./smd-value.ts";

/** No path is in more than one of the three. All are empty if the values are equal. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

export function compareTyped(type: MergeType, before: Json, after: Json): Comparison {
  const root = new Spot(undefined, "");
  compareValue(type, before, after, root);
  return {
    removed: root.removed ?? new FieldSet(),
    modified: root.modified ?? new FieldSet(),
    added: root.added ?? new FieldSet(),
  };
}

type Outcome = "removed" | "modified" | "added";

/** Where the walk is. The sets come into being only along the paths of changes. */
class Spot {
  removed: FieldSet | undefined;
  modified: FieldSet | undefined;
  added: FieldSet | undefined;
  readonly #parent: Spot | undefined;
  readonly #step: PathStep;

  constructor(parent: Spot | undefined, step: PathStep) {
    this.#parent = parent;
    this.#step = step;
  }

  /** Puts this path into one of the sets. */
  mark(outcome: Outcome): void {
    const parent = this.#parent;
    if (parent !== undefined) parent.setOf(outcome).node(this.#step).isMember = true;
  }

  setOf(outcome: Outcome): FieldSet {
    const known = this[outcome];
    if (known !== undefined) return known;
    const parent = this.#parent;
    if (parent === undefined) return (this[outcome] = new FieldSet());
    const node = parent.setOf(outcome).node(this.#step);
    return (this[outcome] = node.children ??= new FieldSet());
  }
}

function compareValue(
  type: MergeType,
  before: Json | undefined,
  after: Json | undefined,
  spot: Spot,
): void {
  if (before === after) return;
  const left = formOf(type, before);
  const right = formOf(type, after);
  let isLeaf: boolean;
  if (after === undefined) {
    isLeaf = compareAs(left, type, before, after, spot);
  } else {
    // A value that changed its form is compared as both.
    if (before !== undefined && left !== right) compareAs(left, type, before, after, spot);
    isLeaf = compareAs(right, type, before, after, spot);
  }
  if (isLeaf) return;
  if (before === undefined) spot.mark("added");
  else if (after === undefined) spot.mark("removed");
}

/** Whether the two were compared as one leaf. */
function compareAs(
  form: MergeForm | undefined,
  type: MergeType,
  before: Json | undefined,
  after: Json | undefined,
  spot: Spot,
): boolean {
  switch (form) {
    case "map":
      return type.map !== undefined && compareMaps(type.map, before, after, spot);
    case "list":
      return type.list !== undefined && compareLists(type.list, before, after, spot);
    case "scalar": {
      const kind = type.scalar ?? "untyped";
      const isMisfit = (value: Json | undefined): boolean =>
        value !== undefined && scalarProblem(kind, value) !== undefined;
      if (isMisfit(before) && isMisfit(after)) return false;
      compareLeaves(before, after, spot);
      return true;
    }
    case undefined:
      return false;
  }
}

function compareLeaves(before: Json | undefined, after: Json | undefined, spot: Spot): void {
  if (before === undefined) spot.mark("added");
  else if (after === undefined) spot.mark("removed");
  else if (!valuesEqual(before, after)) spot.mark("modified");
}

function compareMaps(
  map: MapType,
  before: Json | undefined,
  after: Json | undefined,
  spot: Spot,
): boolean {
  const left = isJsonObject(before) ? before : undefined;
  const right = isJsonObject(after) ? after : undefined;
  if (map.isAtomic || (isEmptyMap(left) && isEmptyMap(right))) {
    compareLeaves(before, after, spot);
    return true;
  }
  for (const key in left) {
    compareMember(
      map,
      key,
      left[key],
      right === undefined ? undefined : memberOf(right, key),
      spot,
    );
  }
  for (const key in right) {
    if (left === undefined || memberOf(left, key) === undefined) {
      compareMember(map, key, undefined, right[key], spot);
    }
  }
  return false;
}

function compareMember(
  map: MapType,
  key: string,
  before: Json | undefined,
  after: Json | undefined,
  spot: Spot,
): void {
  if (before === after) return;
  const type = memberType(map, key);
  const child = new Spot(spot, key);
  if (type !== undefined) compareValue(type, before, after, child);
}

function compareLists(
  list: ListType,
  before: Json | undefined,
  after: Json | undefined,
  spot: Spot,
): boolean {
  const left = isJsonArray(before) ? before : [];
  const right = isJsonArray(after) ? after : [];
  if (list.isAtomic || (left.length === 0 && right.length === 0)) {
    compareLeaves(before, after, spot);
    return true;
  }
  if (hasUniqueOrder(list, left, right)) {
    for (let i = 0; i < left.length; i++)
      comparePair(list, left[i] ?? null, right[i] ?? null, spot);
    return false;
  }
  const there = groupsOf(list, left);
  const coming = groupsOf(list, right);
  for (const { element, values } of there.values()) {
    compareGroups(list, element, values, coming.get(element.text)?.values ?? [], spot);
  }
  for (const { element, values } of coming.values()) {
    if (!there.has(element.text)) compareGroups(list, element, [], values, spot);
  }
  return false;
}

/** Whether the lists name the same items in the same order, each once. */
function hasUniqueOrder(list: ListType, left: readonly Json[], right: readonly Json[]): boolean {
  if (!sameOrder(list, left, right)) return false;
  if (areApart(list, left)) return true;
  return new Set(left.map((item) => identityOf(list, item))).size === left.length;
}

function comparePair(list: ListType, before: Json, after: Json, spot: Spot): void {
  if (before === after) return;
  const element = elementOf(list, before);
  if (typeof element === "string") return;
  compareValue(list.item, before, after, new Spot(spot, element));
}

/** The items that one element names; more than one if there are duplicates. */
interface Group {
  readonly element: ItemElement;
  readonly values: Json[];
}

function groupsOf(list: ListType, items: readonly Json[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const item of items) {
    const element = elementOf(list, item);
    if (typeof element === "string") continue;
    const group = groups.get(element.text);
    if (group === undefined) groups.set(element.text, { element, values: [item] });
    else group.values.push(item);
  }
  return groups;
}

function compareGroups(
  list: ListType,
  element: ItemElement,
  before: readonly Json[],
  after: readonly Json[],
  spot: Spot,
): void {
  const child = new Spot(spot, element);
  if (before.length <= 1 && after.length <= 1) {
    compareValue(list.item, before[0], after[0], child);
  } else if (before.length >= 2 && after.length >= 2) {
    if (!valuesEqual(before, after)) child.mark("modified");
  } else if (before.length >= 2) {
    // Of items that could not be told apart only their presence was owned: what is left is new.
    if (after.length > 0) compareValue(list.item, undefined, after[0], child);
    child.mark("removed");
  } else {
    if (before.length > 0) compareValue(list.item, before[0], undefined, child);
    child.mark("added");
  }
}

function isEmptyMap(value: JsonObject | undefined): boolean {
  if (value === undefined) return true;
  for (const _ in value) return false;
  return true;
}
