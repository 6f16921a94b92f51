// Defaults that depend on more than one field, and what such rules look at.

import { isJsonArray, isJsonObject, type MutableJsonObject } from "@keelson/base";

import type { StructRule } from "../struct-walk.ts";
import type { DefaultsContext } from "../typed-kind.ts";

/** The defaults of a type, or of one place. */
export interface DefaultRule {
  /** Fields for which the data is not asked. */
  readonly owns: readonly string[];
  readonly apply: StructRule<DefaultsContext>;
}

/** Rules by type, `core.v1.Volume`, or by place, `/v1/Pod.spec`. */
export type DefaultRules = Readonly<Record<string, DefaultRule>>;

/** An object inside another; undefined if there is none. */
export function objectAt(
  object: MutableJsonObject | undefined,
  ...names: readonly string[]
): MutableJsonObject | undefined {
  let found = object;
  for (const name of names) {
    const inside = found?.[name];
    if (!isJsonObject(inside)) return undefined;
    found = inside;
  }
  return found;
}

/** The objects of a list inside another object. */
export function objectsAt(
  object: MutableJsonObject | undefined,
  name: string,
): readonly MutableJsonObject[] {
  const list = object?.[name];
  return isJsonArray(list) ? list.filter((item) => isJsonObject(item)) : [];
}

/** Whether a text is missing or empty, which is the same in Go. */
export function isUnset(object: MutableJsonObject, name: string): boolean {
  const value = object[name];
  return value === undefined || value === null || value === "";
}

/** Whether a pointer is nothing. */
export function isNil(object: MutableJsonObject, name: string): boolean {
  const value = object[name];
  return value === undefined || value === null;
}
