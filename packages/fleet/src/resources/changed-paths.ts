// Where two specs differ: down to single values, and item by item in lists whose items have keys.

import { isJsonArray, isJsonObject, jsonEqual, type Json, type JsonObject } from "@keelson/base";
import { valueAt, type OwnedField, type Step } from "../worker/owned-fields.ts";

/**
 * The paths at which they say different things. `owned` are fields of an object of this kind: their paths tell by which
 * keys the items of its lists are known.
 */
export function changedPaths(
  one: JsonObject | undefined,
  other: JsonObject | undefined,
  owned: readonly OwnedField[],
): readonly (readonly Step[])[] {
  const found: (readonly Step[])[] = [];
  walk(one, other, [], { owned, found });
  return found;
}

/**
 * The path as a JSON pointer into the first of some documents. Items that it does not have come after its own, those of
 * the second first: no two fields share a pointer.
 */
export function pointerAmong(
  documents: readonly (Json | undefined)[],
  path: readonly Step[],
): string {
  let values = documents;
  let pointer = "";
  for (const step of path) {
    const name = typeof step === "string" ? step : String(indexAmong(values, step));
    pointer += `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    values = values.map((value) => (value === undefined ? undefined : valueAt(value, [step])));
  }
  return pointer;
}

function indexAmong(lists: readonly (Json | undefined)[], step: Exclude<Step, string>): number {
  const before: Json[] = [];
  for (const item of lists.flatMap((list) => (isJsonArray(list) ? list : []))) {
    const own = "keys" in step && isJsonObject(item) ? pick(item, Object.keys(step.keys)) : item;
    const isKnown = before.some((one) => isItem(one, own));
    if (isKnown) continue;
    if (isItem(item, "keys" in step ? step.keys : step.item)) break;
    before.push(item);
  }
  return before.length;
}

/** Whether it has these keys, or is this value. */
function isItem(item: Json, asked: Json): boolean {
  if (!isJsonObject(asked) || !isJsonObject(item)) return jsonEqual(item, asked);
  return Object.entries(asked).every(([name, value]) => {
    const own = memberOf(item, name);
    return own !== undefined && jsonEqual(own, value);
  });
}

interface Walk {
  readonly owned: readonly OwnedField[];
  readonly found: (readonly Step[])[];
}

function walk(
  one: Json | undefined,
  other: Json | undefined,
  path: readonly Step[],
  { owned, found }: Walk,
): void {
  if (one !== undefined && other !== undefined && jsonEqual(one, other)) return;
  if (one === undefined && other === undefined) return;
  const members = membersOf(one, other) ?? itemsOf(one, other, keysAt(owned, path));
  if (members === undefined || members.length === 0) found.push(path);
  else for (const { step, a, b } of members) walk(a, b, [...path, step], { owned, found });
}

/** The same part of both. */
interface Part {
  readonly step: Step;
  readonly a: Json | undefined;
  readonly b: Json | undefined;
}

/** Undefined: they are not both maps, as far as they are there. */
function membersOf(one: Json | undefined, other: Json | undefined): readonly Part[] | undefined {
  const [a, b] = [one ?? {}, other ?? {}];
  if (!isJsonObject(a) || !isJsonObject(b)) return undefined;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].map((step) => {
    return { step, a: memberOf(a, step), b: memberOf(b, step) };
  });
}

function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Undefined: they are no lists whose items can be told apart; such ones differ as a whole. */
function itemsOf(
  one: Json | undefined,
  other: Json | undefined,
  keys: readonly string[],
): readonly Part[] | undefined {
  const [a, b] = [one ?? [], other ?? []];
  if (!isJsonArray(a) || !isJsonArray(b)) return undefined;
  const [left, right] = [byKeys(a, keys), byKeys(b, keys)];
  if (left === undefined || right === undefined) return undefined;
  return [...new Set([...left.keys(), ...right.keys()])].map((id) => {
    const [mine, theirs] = [left.get(id), right.get(id)];
    return { step: { keys: pick(mine ?? theirs ?? {}, keys) }, a: mine, b: theirs };
  });
}

function byKeys(
  list: readonly Json[],
  keys: readonly string[],
): ReadonlyMap<string, JsonObject> | undefined {
  const items = new Map<string, JsonObject>();
  for (const item of list) {
    if (!isJsonObject(item)) return undefined;
    const own = pick(item, keys);
    const id = JSON.stringify(own);
    // Without any key of its own, or with another's, nobody can say which is which.
    if (Object.keys(own).length === 0 || items.has(id)) return undefined;
    items.set(id, item);
  }
  return items;
}

function pick(item: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = memberOf(item, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** By which keys the items of the list at `path` are known; a name, where the cluster has not told yet. */
function keysAt(owned: readonly OwnedField[], path: readonly Step[]): readonly string[] {
  for (const field of owned) {
    const next = field.path[path.length];
    if (typeof next !== "object" || !path.every((step, at) => isAlong(field.path[at], step))) {
      continue;
    }
    return "keys" in next ? Object.keys(next.keys) : [];
  }
  return ["name"];
}

/** Whichever item: the lists in all of them are of one kind. */
function isAlong(step: Step | undefined, asked: Step): boolean {
  return typeof step === "string" || typeof asked === "string"
    ? step === asked
    : step !== undefined;
}
