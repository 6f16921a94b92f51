// A write that changes nothing but times of managed fields changes nothing at all (KB 29).

import { isJsonArray, isJsonObject, jsonEqual, type Json, type JsonObject } from "@keelson/base";

import { memberOf } from "../object/member.ts";
import { managedFieldsOf, withManagedFields } from "./managed-fields.ts";

/**
 * The object as it shall be stored in place of `old`: with the old times if nothing else differs, so that it equals
 * the old one. Both are normalised, and have the same `resourceVersion`.
 */
export function keepTimes(next: JsonObject, old: JsonObject): JsonObject {
  const before = managedFieldsOf(old);
  const after = managedFieldsOf(next);
  if (!isJsonArray(before) || !isJsonArray(after) || before.length !== after.length) return next;
  if (after.length === 0 || sameTimes(before, after)) return next;
  // Mostly something else differs too, and is found at once.
  for (const name in next) {
    if (name === "metadata") continue;
    const value = memberOf(old, name);
    if (value === undefined || !jsonEqual(next[name] ?? null, value)) return next;
  }
  if (!haveSame(before.map(timeless), after.map(timeless))) return next;
  const isSame = jsonEqual(withManagedFields(next, undefined), withManagedFields(old, undefined));
  return isSame ? withManagedFields(next, before.filter(isJsonObject)) : next;
}

/** In any order: entries are ordered by their times. */
function haveSame(a: readonly Json[], b: readonly Json[]): boolean {
  const left = new Map<string, Json[]>();
  for (const entry of b) {
    const key = writerOf(entry);
    const alike = left.get(key);
    if (alike === undefined) left.set(key, [entry]);
    else alike.push(entry);
  }
  return a.every((entry) => {
    const alike = left.get(writerOf(entry)) ?? [];
    const at = alike.findIndex((other) => jsonEqual(entry, other));
    if (at >= 0) alike.splice(at, 1);
    return at >= 0;
  });
}

/** Hardly two entries have the same one. */
function writerOf(entry: Json): string {
  if (!isJsonObject(entry)) return "";
  const { manager, operation, apiVersion, subresource } = entry;
  const parts = [manager, operation, apiVersion, subresource];
  return JSON.stringify(parts.map((part) => (typeof part === "string" ? part : "")));
}

function sameTimes(a: readonly Json[], b: readonly Json[]): boolean {
  return a.every((entry, index) => timeOf(entry) === timeOf(b[index] ?? null));
}

function timeOf(entry: Json): Json | undefined {
  return isJsonObject(entry) ? entry["time"] : undefined;
}

function timeless(entry: Json): Json {
  if (!isJsonObject(entry)) return entry;
  const { time: _, ...rest } = entry;
  return rest;
}
