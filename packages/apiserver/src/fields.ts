// Reading objects whose kind has been checked, without trusting it: what is not of its type counts as absent.

import { isJsonArray, isJsonObject, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

/** A member that is an object; an empty one where it is not. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = memberOf(object, key);
  return isJsonObject(value) ? value : {};
}

export function textAt(object: JsonObject, key: string): string {
  const value = memberOf(object, key);
  return typeof value === "string" ? value : "";
}

export function textsAt(object: JsonObject, key: string): readonly string[] {
  const value = memberOf(object, key);
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = memberOf(object, key);
  return isJsonArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}
