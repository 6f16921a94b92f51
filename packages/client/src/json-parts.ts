// Parts of documents that others wrote: what is not of the expected shape is as good as absent.

import {
  isJsonArray,
  isJsonObject,
  readJson,
  type Json,
  type JsonObject,
  type MutableJson,
} from "@keelson/base";

/** Reads what a server says, which is deeper than what it takes: it puts objects into lists, and their managed fields repeat their nesting. */
export function readAnswer(text: string): MutableJson {
  return readJson(text, { depthMax: 1_024 });
}

export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

export function textsOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
