// When two values are equal, and which comes first.

import { valuesEqual } from "../schema/go-value.ts";
import { CelError, NoSuchOverload } from "./cel-error.ts";
import {
  Duration,
  List,
  Optional,
  QuantityValue,
  Struct,
  Timestamp,
  TypeValue,
  Uint,
  ValueMap,
  type Value,
} from "./values.ts";

/** Told of each comparison, so that its cost can be counted. */
export type Spend = (cost: number) => void;

/** Whether two values are equal. Values of different types never are, numbers excepted. */
export function equal(a: Value, b: Value, spend: Spend): boolean {
  spend(1);
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) === 0;
  if (typeof a === "string" || a === null || typeof a === "boolean") return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && bytesEqual(a, b);
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof QuantityValue) return b instanceof QuantityValue && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) return b instanceof Optional && optionalsEqual(a, b, spend);
  if (a instanceof List) return b instanceof List && listsEqual(a, b, spend);
  if (a instanceof ValueMap) return b instanceof ValueMap && mapsEqual(a, b, spend);
  if (a instanceof Struct) return b instanceof Struct && structsEqual(a, b, spend);
  return false;
}

type NumberValue = bigint | number | Uint;

function isNumber(value: Value): value is NumberValue {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

function plain(value: NumberValue): bigint | number {
  return value instanceof Uint ? value.value : value;
}

/** Negative, zero or positive; NaN equals nothing and comes nowhere. */
function compareNumbers(a: NumberValue, b: NumberValue): number {
  const left = plain(a);
  const right = plain(b);
  // JavaScript compares integers and floats by their exact values.
  return left < right ? -1 : left > right ? 1 : left == right ? 0 : Number.NaN; // oxlint-disable-line eqeqeq
}

/** The order of two values, negative, zero or positive; only numbers of different types may be mixed. */
export function compare(a: Value, b: Value): number {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Duration && b instanceof Duration) return order(a.nanos, b.nanos);
  if (a instanceof Timestamp && b instanceof Timestamp) return order(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareByteArrays(a, b);
  throw new NoSuchOverload();
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By code points, which is the order of UTF-8 as well. */
function compareText(a: string, b: string): number {
  return compareByteArrays(new TextEncoder().encode(a), new TextEncoder().encode(b));
}

function compareByteArrays(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function optionalsEqual(a: Optional, b: Optional, spend: Spend): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value, spend);
}

function listsEqual(a: List, b: List, spend: Spend): boolean {
  if (a.length !== b.length) return false;
  if (a.identity.by === "equality") {
    return b.toArray().every((item) => contains(a, item, spend));
  }
  if (a.identity.by === "key" && a.source !== undefined && b.source !== undefined) {
    const { keyOf } = a.identity;
    const places = new Map(b.source.map((item, index) => [keyOf(item), index]));
    return a.source.every((item, index) => {
      const place = places.get(keyOf(item));
      return place !== undefined && equal(a.at(index), b.at(place), spend);
    });
  }
  return a.toArray().every((item, index) => equal(item, b.at(index), spend));
}

/** Whether an item of a list equals a value. */
export function contains(list: List, value: Value, spend: Spend): boolean {
  for (let index = 0; index < list.length; index++) {
    if (equal(list.at(index), value, spend)) return true;
  }
  return false;
}

function mapsEqual(a: ValueMap, b: ValueMap, spend: Spend): boolean {
  if (a.entries.size !== b.entries.size) return false;
  return [...a.entries].every(([identity, [, value]]) => {
    const other = b.entries.get(identity);
    return other !== undefined && equal(value, other[1], spend);
  });
}

/** Declared fields by value, others by their JSON and only where both have them. */
function structsEqual(a: Struct, b: Struct, spend: Spend): boolean {
  const properties = Object.keys(a.source);
  if (properties.length !== Object.keys(b.source).length) return false;
  return properties.every((property) => {
    const name = a.nameOf(property);
    if (name === undefined) {
      if (!Object.hasOwn(b.source, property)) return true;
      return valuesEqual(a.source[property] ?? null, b.source[property] ?? null);
    }
    const left = a.get(name);
    const right = b.get(name);
    if (left === undefined || right === undefined) return left === right;
    return equal(left, right, spend);
  });
}

/** The sum of two lists: a set gains what it lacks, a list-map replaces by key, any other appends. */
export function concat(a: List, b: List, spend: Spend): List {
  spend(a.length + b.length);
  const items = a.toArray();
  if (a.identity.by === "equality") {
    const added = b.toArray().filter((item) => !contains(a, item, spend));
    return new List({ items: [...items, ...added], identity: a.identity });
  }
  if (a.identity.by === "key" && a.source !== undefined && b.source !== undefined) {
    const { keyOf } = a.identity;
    const places = new Map(a.source.map((item, index) => [keyOf(item), index]));
    const sources = [...a.source];
    for (const [index, source] of b.source.entries()) {
      const key = keyOf(source);
      if (key === undefined) throw new CelError("may only be invoked for map list types with keys");
      const place = places.get(key);
      if (place === undefined) {
        places.set(key, items.length);
        sources.push(source);
        items.push(b.at(index));
      } else {
        sources[place] = source;
        items[place] = b.at(index);
      }
    }
    return new List({ items, identity: a.identity, source: sources });
  }
  return new List({ items: [...items, ...b.toArray()] });
}
