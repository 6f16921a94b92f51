// The values that rules compute with. JSON becomes a value only where a rule looks at it.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { keyOf } from "../schema/correlation.ts";
import { parseFormatDuration } from "../schema/format-duration.ts";
import { floatOf, kindOf } from "../schema/go-value.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { CelError } from "./cel-error.ts";
import { escapeName, withObjectMeta } from "./schema-type.ts";
import { parseTimestamp } from "./timestamps.ts";
import { typeName, type CelType } from "./cel-type.ts";

/** A value. Integers are bigints, doubles numbers. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | QuantityValue
  | Optional
  | TypeValue
  | List
  | ValueMap
  | Struct;

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A quantity in billionths, the finest that Kubernetes keeps. */
export class QuantityValue {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Optional {
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export class TypeValue {
  readonly name: string;

  constructor(type: CelType) {
    this.name = typeName(type);
  }
}

/** How the items of a list are told apart: by their place, by equality, or by some of their fields. */
type Identity =
  | { readonly by: "place" }
  | { readonly by: "equality" }
  | { readonly by: "key"; readonly keyOf: (json: Json) => string | undefined };

const byPlace: Identity = { by: "place" };

export class List {
  readonly length: number;
  readonly identity: Identity;
  /** What the items were made of, where they came from an object. */
  readonly source: readonly Json[] | undefined;
  readonly #items: (Value | undefined)[];
  readonly #make: ((index: number) => Value) | undefined;

  constructor(parts: {
    readonly items: readonly Value[];
    readonly identity?: Identity;
    readonly source?: readonly Json[];
  });
  constructor(parts: {
    readonly source: readonly Json[];
    readonly identity?: Identity;
    readonly make: (index: number) => Value;
  });
  constructor(parts: {
    readonly items?: readonly Value[];
    readonly source?: readonly Json[];
    readonly identity?: Identity;
    readonly make?: (index: number) => Value;
  }) {
    const { items, source, identity = byPlace, make } = parts;
    this.#items = items === undefined ? [] : [...items];
    this.length = items?.length ?? source?.length ?? 0;
    this.source = source;
    this.identity = identity;
    this.#make = make;
  }

  at(index: number): Value {
    const known = this.#items[index];
    if (known !== undefined || this.#make === undefined) return known ?? null;
    const made = this.#make(index);
    this.#items[index] = made;
    return made;
  }

  toArray(): Value[] {
    return Array.from({ length: this.length }, (_, index) => this.at(index));
  }
}

/** A map. Keys are told apart by type and value; 1, 1u and 1.0 are one key. */
export class ValueMap {
  readonly entries: ReadonlyMap<string, readonly [key: Value, value: Value]>;

  constructor(entries: ReadonlyMap<string, readonly [key: Value, value: Value]>) {
    this.entries = entries;
  }

  get(key: Value): Value | undefined {
    const identity = keyIdentity(key);
    return identity === undefined ? undefined : this.entries.get(identity)?.[1];
  }
}

/** What tells a key from others, or nothing if it cannot be one. */
export function keyIdentity(key: Value): string | undefined {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${String(key)}`;
  if (typeof key === "bigint") return `n${key}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : undefined;
  return key instanceof Uint ? `n${key.value}` : undefined;
}

/** An object with declared fields. */
export class Struct {
  readonly source: JsonObject;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #values = new Map<string, Value>();

  constructor(source: JsonObject, fields: ReadonlyMap<string, Field>) {
    this.source = source;
    this.#fields = fields;
  }

  /** The value of a field that is there; null is as good as absent. */
  get(name: string): Value | undefined {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const field = this.#fields.get(name);
    const json =
      field !== undefined && Object.hasOwn(this.source, field.property)
        ? this.source[field.property]
        : undefined;
    if (field === undefined || json === undefined || json === null) return undefined;
    const value = valueOf(json, field.schema, field.isObject);
    this.#values.set(name, value);
    return value;
  }

  /** The name by which rules know a property, or nothing if it is not declared. */
  nameOf(property: string): string | undefined {
    const name = escapeName(property);
    return name !== undefined && this.#fields.has(name) ? name : undefined;
  }
}

interface Field {
  readonly property: string;
  readonly schema: StructuralSchema;
  readonly isObject: boolean;
}

/** The value of a piece of an object that has passed its schema. */
export function valueOf(json: Json, schema: StructuralSchema, isObject: boolean): Value {
  if (json === null) {
    if (schema.nullable === true) return null;
    throw new CelError("invalid data, got null for schema with nullable=false");
  }
  if (schema["x-kubernetes-int-or-string"] === true) {
    return typeof json === "string" ? json : integerOf(json);
  }
  switch (schema.type) {
    case "object":
      return objectValue(json, schema, isObject);
    case "array":
      return listValue(json, schema);
    case "string":
      return stringValue(json, schema);
    case "integer":
      return integerOf(json);
    case "number":
      return floatOf(json);
    case "boolean":
      return json === true;
    case undefined:
      break;
  }
  if (isJsonObject(json)) return objectValue(json, schema, isObject);
  throw new CelError("invalid data, expected a declared type");
}

function integerOf(json: Json): bigint {
  if (kindOf(json) === "integer") return BigInt(json as number | bigint);
  return BigInt(Math.trunc(floatOf(json)));
}

function objectValue(json: Json, schema: StructuralSchema, isObject: boolean): Value {
  if (!isJsonObject(json))
    throw new CelError("invalid data, expected a map for the provided schema");
  const { additionalProperties } = schema;
  if (typeof additionalProperties === "object") {
    const entries = new Map<string, readonly [Value, Value]>();
    const isEmbedded = additionalProperties["x-kubernetes-embedded-resource"] === true;
    for (const [key, value] of Object.entries(json)) {
      entries.set(`s${key}`, [key, valueOf(value, additionalProperties, isEmbedded)]);
    }
    return new ValueMap(entries);
  }
  return new Struct(json, fieldsOf(schema, isObject));
}

function fieldsOf(schema: StructuralSchema, isObject: boolean): ReadonlyMap<string, Field> {
  const cache = isObject ? objectFields : plainFields;
  const known = cache.get(schema);
  if (known !== undefined) return known;
  const fields = new Map<string, Field>();
  const { properties = {} } = isObject ? withObjectMeta(schema) : schema;
  for (const [property, part] of Object.entries(properties)) {
    const name = escapeName(property);
    const isEmbedded = part["x-kubernetes-embedded-resource"] === true;
    if (name !== undefined) fields.set(name, { property, schema: part, isObject: isEmbedded });
  }
  cache.set(schema, fields);
  return fields;
}

const plainFields = new WeakMap<StructuralSchema, ReadonlyMap<string, Field>>();
const objectFields = new WeakMap<StructuralSchema, ReadonlyMap<string, Field>>();

function listValue(json: Json, schema: StructuralSchema): List {
  if (!isJsonArray(json))
    throw new CelError("invalid data, expected an array for the provided schema");
  const items = schema.items ?? {};
  const isEmbedded = items["x-kubernetes-embedded-resource"] === true;
  const make = (index: number): Value => valueOf(json[index] ?? null, items, isEmbedded);
  return new List({ source: json, identity: identityOf(schema), make });
}

function identityOf(schema: StructuralSchema): Identity {
  const listType = schema["x-kubernetes-list-type"];
  if (listType === "set") return { by: "equality" };
  return listType === "map" ? { by: "key", keyOf: (json) => keyOf(json, schema) } : byPlace;
}

function stringValue(json: Json, schema: StructuralSchema): Value {
  if (typeof json !== "string") throw new CelError("invalid data, expected a string");
  const { format = "" } = schema;
  switch (format) {
    case "duration": {
      const nanos = parseFormatDuration(json);
      if (nanos === undefined) throw new CelError(`Invalid duration ${json}`);
      return new Duration(nanos);
    }
    case "date": {
      const nanos = parseTimestamp(`${json}T00:00:00Z`);
      if (nanos === undefined) throw new CelError(`Invalid date formatted string ${json}`);
      return new Timestamp(nanos);
    }
    case "date-time": {
      const nanos = parseTimestamp(json);
      if (nanos === undefined) throw new CelError(`Invalid date-time formatted string ${json}`);
      return new Timestamp(nanos);
    }
    case "byte":
      return bytesOf(json);
    default:
      return json;
  }
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new CelError(`Invalid byte formatted string ${base64}`, { cause: error });
  }
}
