import type { Json, JsonObject, MutableJson, MutableJsonObject } from "@keelson/base";

/**
 * A member of an object, or undefined where it has none.
 *
 * Keys come from outside, and a plain read of `constructor` or `__proto__` would find what every object inherits.
 */
export function memberOf(object: MutableJsonObject, key: string): MutableJson | undefined;
export function memberOf(object: JsonObject, key: string): Json | undefined;
export function memberOf(object: JsonObject, key: string): Json | undefined {
  const value = object[key];
  if (value === undefined) return undefined;
  return Object.hasOwn(object, key) ? value : undefined;
}
