// Parts of documents that others wrote: what is not of the expected shape is as good as absent.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

export function textsOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
