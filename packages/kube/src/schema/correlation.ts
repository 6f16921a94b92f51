// Which old value belongs to which new one, so that what did not change is not refused (ratcheting).

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { floatOf, kindOf, scalarText, valuesEqual } from "./go-value.ts";
import type { StructuralSchema } from "./structural.ts";

/**
 * A new value beside the old one it replaces. Fields belong together by name, items of a list-map by key;
 * items of any other list have no old value.
 */
export class Correlation {
  readonly value: Json;
  readonly old: Json;
  readonly schema: StructuralSchema;
  /** Where the value stands; empty at the root. */
  readonly path: string;
  readonly #children = new Map<string | number, Correlation>();
  #oldItems: Map<string, JsonObject> | undefined;
  #isEqual: boolean | undefined;

  constructor(parts: {
    readonly value: Json;
    readonly old: Json;
    readonly schema: StructuralSchema;
    readonly path: string;
  }) {
    this.value = parts.value;
    this.old = parts.old;
    this.schema = parts.schema;
    this.path = parts.path;
  }

  /** The field of both objects, or nothing where one of them, or the schema, does not have it. */
  field(name: string, path: string): Correlation | undefined {
    const known = this.#children.get(name);
    if (known !== undefined) return known;
    const { value, old } = this;
    if (!isJsonObject(value) || !isJsonObject(old)) return undefined;
    if (!Object.hasOwn(value, name) || !Object.hasOwn(old, name)) return undefined;
    const schema = fieldSchema(this.schema, name);
    if (schema === undefined) return undefined;
    return this.#keep(name, { value: value[name] ?? null, old: old[name] ?? null, schema, path });
  }

  /** The item of a list-map and the old one with the same keys, or nothing. */
  item(index: number, path: string): Correlation | undefined {
    const known = this.#children.get(index);
    if (known !== undefined) return known;
    const { value, old, schema } = this;
    if (!isJsonArray(value) || !isJsonArray(old) || index >= value.length) return undefined;
    if (schema["x-kubernetes-list-type"] !== "map" || schema.items === undefined) return undefined;
    const item = value[index] ?? null;
    const key = keyOf(item, schema);
    this.#oldItems ??= itemsByKey(old, schema);
    const oldItem = key === undefined ? undefined : this.#oldItems.get(key);
    if (oldItem === undefined) return undefined;
    return this.#keep(index, { value: item, old: oldItem, schema: schema.items, path });
  }

  /**
   * Whether nothing changed. A list-map may have changed its order; an object with a field that its schema
   * does not know has always changed.
   */
  isEqual(): boolean {
    this.#isEqual ??= this.#compare();
    return this.#isEqual;
  }

  #keep(key: string | number, parts: ConstructorParameters<typeof Correlation>[0]): Correlation {
    const correlation = new Correlation(parts);
    this.#children.set(key, correlation);
    return correlation;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (isJsonArray(value) && isJsonArray(old)) {
      if (value.length !== old.length) return false;
      if (this.schema["x-kubernetes-list-type"] !== "map") return valuesEqual(value, old);
      return value.every((_item, index) => this.item(index, "")?.isEqual() === true);
    }
    if (isJsonObject(value) && isJsonObject(old)) {
      const keys = Object.keys(value);
      if (keys.length !== Object.keys(old).length) return false;
      return keys.every((key) => this.field(key, "")?.isEqual() === true);
    }
    return valuesEqual(value, old);
  }
}

/** The schema of a field: the property of that name, else what all others follow. */
export function fieldSchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** The items of a list-map by their keys, the first of each. */
export function itemsByKey(
  items: readonly Json[],
  schema: StructuralSchema,
): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const item of items) {
    const key = keyOf(item, schema);
    if (key !== undefined && isJsonObject(item) && !found.has(key)) found.set(key, item);
  }
  return found;
}

function textOf(value: Json): string {
  return kindOf(value) === "number" ? String(floatOf(value)) : scalarText(value);
}

/** The keys of an item of a list-map as one text, or nothing if one is absent or not a scalar. */
export function keyOf(item: Json, schema: StructuralSchema): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  if (names.length === 0) return undefined;
  let key = "";
  for (const name of names) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (value === undefined) return undefined;
    const kind = kindOf(value);
    if (kind === "null" || kind === "array" || kind === "object") return undefined;
    // Several keys are compared to six decimals, as the real server prints them.
    const isFixed = kind === "number" && names.length > 1;
    key += `\0${kind} ${isFixed ? floatOf(value).toFixed(6) : textOf(value)}`;
  }
  return key;
}
