// How values of a schema merge: the schema seen by server-side apply, compiled once.

import type { Json } from "@keelson/base";

import { isJsonArray, isJsonObject, JsonNumber } from "@keelson/base";
import type { StructuralSchema } from "../schema/structural.ts";

/** What a scalar may be. */
export type ScalarKind = "numeric" | "string" | "boolean" | "untyped";

/** The type of a value; more than one of the three where the schema leaves it open. */
export interface MergeType {
  readonly scalar: ScalarKind | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
}

export interface ListType {
  /** Whether the list is one leaf. Otherwise its items are told apart, by their keys or by themselves. */
  readonly isAtomic: boolean;
  /** The fields that name an item; none for a set. */
  readonly keys: readonly string[];
  readonly item: MergeType;
  /** The names that items had lately, by the value of their one key. Bounded; `elementText` fills it. */
  readonly texts: Map<string, string>;
}

export interface MapType {
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, MapField>;
  /** The same by their keys in a stored field set. */
  readonly fieldsByKey: ReadonlyMap<string, MapField>;
  /** The type of members that are not fields; undefined where there may be none. */
  readonly other: MergeType | undefined;
  /** Whether nothing at all is known of the members. */
  readonly isDeduced: boolean;
}

interface MapField {
  readonly name: string;
  /** The field's key in a stored field set: `f:name`. */
  readonly key: string;
  readonly type: MergeType;
  readonly default: Json | undefined;
}

/** Which of the three a value is handled as. */
export type MergeForm = "map" | "scalar" | "list";

/** The type of what no schema describes: maps merge member by member, lists as a whole. */
export const deducedType: MergeType = deduced();

/** The type of what no schema describes and what is one leaf whatever it is. */
const untypedLeaf: MergeType = leaf();

const compiled = new WeakMap<StructuralSchema, MergeType>();
const compiledOpen = new WeakMap<StructuralSchema, MergeType>();

/**
 * The merge type of a schema. Kept by the schema's identity, which therefore must not change.
 *
 * Schemas may contain themselves, as that of a CustomResourceDefinition does.
 */
export function mergeTypeOf(schema: StructuralSchema | undefined): MergeType {
  return schema === undefined ? deducedType : compile(schema, false);
}

/** How to handle a value, or nothing at all, of a type. Null and misfits take the first form the type has. */
export function formOf(type: MergeType, value: Json | undefined): MergeForm | undefined {
  if (value !== undefined && value !== null) {
    if (isJsonArray(value)) {
      if (type.list !== undefined) return "list";
    } else if (isJsonObject(value)) {
      if (type.map !== undefined) return "map";
    } else if (type.scalar !== undefined) {
      return "scalar";
    }
  }
  if (type.map !== undefined) return "map";
  if (type.scalar !== undefined) return "scalar";
  return type.list === undefined ? undefined : "list";
}

/** The type of a member: that of its field, else that of the others. */
export function memberType(map: MapType, name: string): MergeType | undefined {
  return map.fields.get(name)?.type ?? map.other;
}

/** `isOpen` says that a schema above keeps unknown fields: so do those below. */
function compile(schema: StructuralSchema, isOpen: boolean): MergeType {
  const open = isOpen || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const cache = open ? compiledOpen : compiled;
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const type: { -readonly [Key in keyof MergeType]: MergeType[Key] } = {
    scalar: undefined,
    list: undefined,
    map: undefined,
  };
  // Before its parts: one of them may be the schema itself.
  cache.set(schema, type);
  if (schema.format === "quantity") {
    type.scalar = "untyped";
    return type;
  }
  switch (schema.type) {
    case "object":
      type.map = compileMap(schema, open);
      break;
    case "array":
      type.list = compileList(schema, open);
      break;
    case "integer":
    case "number":
      type.scalar = "numeric";
      break;
    case "boolean":
      type.scalar = "boolean";
      break;
    case "string":
      type.scalar = schema.format === undefined || schema.format === "byte" ? "string" : "untyped";
      break;
    case undefined:
      type.scalar = "untyped";
      type.list = compileList(schema, open);
      type.map = compileMap(schema, open);
      break;
  }
  return type;
}

function compileMap(schema: StructuralSchema, isOpen: boolean): MapType {
  const fields = new Map<string, MapField>();
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    fields.set(name, {
      name,
      key: `f:${name}`,
      type: compile(member, isOpen),
      default: member.default,
    });
  }
  const other = otherMembers(schema, isOpen, fields.size);
  return {
    isAtomic: schema["x-kubernetes-map-type"] === "atomic",
    fields,
    fieldsByKey: new Map(Array.from(fields.values(), (field) => [field.key, field])),
    other,
    isDeduced: fields.size === 0 && (other === deducedType || isUntypedScalar(schema)),
  };
}

function isUntypedScalar({ additionalProperties }: StructuralSchema): boolean {
  if (typeof additionalProperties !== "object" || additionalProperties.format === "quantity") {
    return false;
  }
  return compile(additionalProperties, false).scalar === "untyped";
}

function otherMembers(
  { additionalProperties }: StructuralSchema,
  isOpen: boolean,
  fields: number,
): MergeType | undefined {
  if (additionalProperties === undefined) {
    return isOpen || fields === 0 ? deducedType : undefined;
  }
  if (typeof additionalProperties === "object") return compile(additionalProperties, isOpen);
  return additionalProperties ? deducedType : undefined;
}

function compileList(schema: StructuralSchema, isOpen: boolean): ListType {
  const item = schema.items === undefined ? untypedLeaf : compile(schema.items, isOpen);
  switch (schema["x-kubernetes-list-type"]) {
    case "map":
      return itemsBy(schema["x-kubernetes-list-map-keys"] ?? [], item);
    case "set":
      return itemsBy([], item);
    case "atomic":
      return atomicList(item);
    case undefined:
      break;
  }
  // Older built-in kinds say it only for strategic merge.
  const strategy = schema["x-kubernetes-patch-strategy"];
  if (strategy === "merge" || strategy === "merge,retainKeys") {
    const key = schema["x-kubernetes-patch-merge-key"];
    return itemsBy(key === undefined ? [] : [key], item);
  }
  return atomicList(item);
}

function itemsBy(keys: readonly string[], item: MergeType): ListType {
  return { isAtomic: false, keys, item, texts: new Map() };
}

function atomicList(item: MergeType): ListType {
  return { isAtomic: true, keys: [], item, texts: new Map() };
}

function deduced(): MergeType {
  const map: { -readonly [Key in keyof MapType]: MapType[Key] } = {
    isAtomic: false,
    fields: new Map(),
    fieldsByKey: new Map(),
    other: undefined,
    isDeduced: true,
  };
  const type: MergeType = {
    scalar: "untyped",
    list: atomicList(leaf()),
    map,
  };
  map.other = type;
  return type;
}

function leaf(): MergeType {
  const list: { -readonly [Key in keyof ListType]: ListType[Key] } = {
    isAtomic: true,
    keys: [],
    item: { scalar: "untyped", list: undefined, map: undefined },
    texts: new Map(),
  };
  const map: { -readonly [Key in keyof MapType]: MapType[Key] } = {
    isAtomic: true,
    fields: new Map(),
    fieldsByKey: new Map(),
    other: undefined,
    isDeduced: false,
  };
  const type: MergeType = { scalar: "untyped", list, map };
  list.item = type;
  map.other = type;
  return type;
}

/** Whether a value is a scalar that is not null. */
export function isScalar(value: Json): value is string | boolean | number | bigint | JsonNumber {
  return value !== null && (typeof value !== "object" || value instanceof JsonNumber);
}
