// Reading objects that may hold anything: what is not of its type counts as absent.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

/** The object at a path; an empty one where there is none. */
export function objectAt(object: JsonObject, ...names: readonly string[]): JsonObject {
  let value: Json | undefined = object;
  for (const name of names) value = isJsonObject(value) ? memberOf(value, name) : undefined;
  return isJsonObject(value) ? value : {};
}

export function textAt(object: JsonObject, name: string): string {
  const value = memberOf(object, name);
  return typeof value === "string" ? value : "";
}

export function numberAt(object: JsonObject, name: string, standard = 0): number {
  const value = memberOf(object, name);
  return typeof value === "number" ? value : standard;
}

/** An integer of 64 bits. */
export function integerAt(object: JsonObject, name: string): number | bigint {
  const value = memberOf(object, name);
  return typeof value === "number" || typeof value === "bigint" ? value : 0;
}

export function textsAt(object: JsonObject, name: string): readonly string[] {
  const value = memberOf(object, name);
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function objectsAt(object: JsonObject, name: string): readonly JsonObject[] {
  const value = memberOf(object, name);
  return isJsonArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}
