// Reading objects that are of the right types but may lack anything.

import {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { memberOf } from "../../../object/member.ts";

/** The value at a path, or nothing; null is nothing. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value;
  for (const name of path) {
    if (current === undefined || !isJsonObject(current)) return undefined;
    current = memberOf(current, name);
  }
  return current === null ? undefined : current;
}

export function has(value: Json | undefined, ...path: readonly string[]): boolean {
  return at(value, ...path) !== undefined;
}

/** A text, empty where there is none. */
export function text(value: Json | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

export function flag(value: Json | undefined, ...path: readonly string[]): boolean {
  return at(value, ...path) === true;
}

/** A number, or nothing. Numbers of 64 bits come as near as a double does. */
export function number(value: Json | undefined, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  if (typeof found === "number") return found;
  if (typeof found === "bigint" || found instanceof JsonNumber) return Number(found);
  return undefined;
}

export function list(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  return found !== undefined && isJsonArray(found) ? found : [];
}

export function texts(value: Json | undefined, ...path: readonly string[]): readonly string[] {
  return list(value, ...path).map((item) => (typeof item === "string" ? item : ""));
}

/** The items of a list of objects; what is null there is an empty one. */
export function objects(
  value: Json | undefined,
  ...path: readonly string[]
): readonly JsonObject[] {
  return list(value, ...path).map((item) => (isJsonObject(item) ? item : {}));
}

/** An object, empty where there is none. */
export function object(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return found !== undefined && isJsonObject(found) ? found : {};
}

/** An object to write into, made where there is none. */
export function writable(parent: MutableJsonObject, name: string): MutableJsonObject {
  const found: MutableJson | undefined = memberOf(parent, name);
  if (found !== undefined && isJsonObject(found)) return found;
  const made: MutableJsonObject = {};
  parent[name] = made;
  return made;
}
