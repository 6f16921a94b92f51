// Members of decoded objects: of the right type, or absent. What Go would call zero is what these give for absent.

import {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { compareBytes } from "../go-text/byte-order.ts";
import { memberOf } from "./member.ts";

const nothing: JsonObject = Object.freeze({});
const none: readonly never[] = Object.freeze([]);

export function textOf(object: JsonObject, name: string): string {
  const value = memberOf(object, name);
  return typeof value === "string" ? value : "";
}

/** A text that may be absent, which differs from empty. */
export function maybeText(object: JsonObject, name: string): string | undefined {
  const value = memberOf(object, name);
  return typeof value === "string" ? value : undefined;
}

export function numberOf(object: JsonObject, name: string): number {
  return maybeNumber(object, name) ?? 0;
}

/** A number that may be absent; beyond 53 bits the nearest double, which is enough to compare with bounds. */
export function maybeNumber(object: JsonObject, name: string): number | undefined {
  const value = memberOf(object, name);
  if (typeof value === "number") return value;
  return typeof value === "bigint" || value instanceof JsonNumber ? Number(value) : undefined;
}

export function flagOf(object: JsonObject, name: string): boolean {
  return memberOf(object, name) === true;
}

/** Whether the member is there at all. */
export function has(object: JsonObject, name: string): boolean {
  const value = memberOf(object, name);
  return value !== undefined && value !== null;
}

export function listOf(object: JsonObject, name: string): readonly Json[] {
  const value = memberOf(object, name);
  return value !== undefined && isJsonArray(value) ? value : none;
}

export function textsOf(object: JsonObject, name: string): readonly string[] {
  const list = listOf(object, name);
  return list.every((item) => typeof item === "string")
    ? list
    : list.map((item) => (typeof item === "string" ? item : ""));
}

export function objectsOf(object: JsonObject, name: string): readonly JsonObject[] {
  const list = listOf(object, name);
  return list.every((item) => isJsonObject(item))
    ? list
    : list.map((item) => (isJsonObject(item) ? item : nothing));
}

/** An object, or a map; empty if it is absent. */
export function objectOf(object: JsonObject, name: string): JsonObject {
  return maybeObject(object, name) ?? nothing;
}

export function maybeObject(object: JsonObject, name: string): JsonObject | undefined {
  const value = memberOf(object, name);
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

/** The annotations of an object; empty if it has none. */
export function annotationsOf(object: JsonObject): JsonObject {
  return objectOf(objectOf(object, "metadata"), "annotations");
}

/** An object to write into, if it is there. */
export function writableObject(
  object: MutableJsonObject,
  name: string,
): MutableJsonObject | undefined {
  const value: MutableJson | undefined = memberOf(object, name);
  return value !== undefined && isJsonObject(value) ? value : undefined;
}

/** An object to write into, made if it is not there. */
export function writableOrMade(object: MutableJsonObject, name: string): MutableJsonObject {
  const found = writableObject(object, name);
  if (found !== undefined) return found;
  const made: MutableJsonObject = {};
  object[name] = made;
  return made;
}

/** The objects of a list, to write into. */
export function writableObjects(
  object: MutableJsonObject,
  name: string,
): readonly MutableJsonObject[] {
  const value: MutableJson | undefined = memberOf(object, name);
  return value !== undefined && isJsonArray(value)
    ? value.filter((item) => isJsonObject(item))
    : [];
}

/** The entries of a map of texts, such as labels. */
export function textEntries(map: JsonObject): readonly (readonly [string, string])[] {
  return Object.keys(map).map((key) => [key, textOf(map, key)] as const);
}

/** Makes a member what it is in another object: of that value, or absent. The value is shared, not copied. */
export function takeMember(target: Record<string, Json>, source: JsonObject, name: string): void {
  const value = memberOf(source, name);
  if (value === undefined) delete target[name];
  else target[name] = value;
}

/** The names of a map, in the order in which Go tells them. */
export function sortedKeys(map: JsonObject): readonly string[] {
  const keys = Object.keys(map);
  // Objects that were read from the store are in order.
  const isSorted = keys.every(
    (key, index) => index === 0 || compareBytes(keys[index - 1] ?? "", key) < 0,
  );
  return isSorted ? keys : keys.sort(compareBytes);
}
