// What a JSON value is to the real server: integers that fit 64 bits are integers, all other numbers floats.

import { isJsonArray, isJsonObject, JsonNumber, type Json } from "@keelson/base";
import type { SchemaType } from "./structural.ts";

/** The kinds of values; an `integer` keeps its 64 bits, a `number` is a float. */
export type ValueKind = SchemaType | "null";

/** The kind of a value as the real server decodes it: `1` is an integer, `1.0` and `1e3` are floats. */
export function kindOf(value: Json): ValueKind {
  if (typeof value === "string") return "string";
  if (typeof value === "number") {
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? "integer" : "number";
  }
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "bigint") return "integer";
  if (value === null) return "null";
  if (value instanceof JsonNumber) return "number";
  return Array.isArray(value) ? "array" : "object";
}

/** A scalar as text. Of a list or an object there is none: the caller has looked. */
export function scalarText(value: Json): string {
  return isJsonArray(value) || isJsonObject(value) ? "" : String(value);
}

/** The float nearest to a number. */
export function floatOf(value: Json): number {
  return Number(value);
}

/** An integer as JSON is read: a number where that is exact. */
export function integerJson(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** A float cut to an integer of 64 bits, as the real server's processors do: out of range is the smallest. */
export function truncateToInt64(value: number): bigint {
  if (!Number.isFinite(value)) return int64Min;
  const cut = BigInt(Math.trunc(value));
  return cut === BigInt.asIntN(64, cut) ? cut : int64Min;
}

const int64Min = -(2n ** 63n);

/** Whether a float counts as an integer: within 2^53, and no further from one than a billionth of it. */
export function isIntegralFloat(value: number): boolean {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  const rounded = Math.sign(value) * Math.round(Math.abs(value));
  if (value === rounded) return true;
  return rounded !== 0 && Math.abs(value - rounded) < 1e-9 * Math.abs(rounded);
}

/** Whether two values are equal once decoded: `1` and `1.0` are not, `1.0` and `1.00` are. Any depth will do. */
export function valuesEqual(a: Json, b: Json): boolean {
  const left: Json[] = [a];
  const right: Json[] = [b];
  while (left.length > 0) {
    if (!pairEqual(left.pop() ?? null, right.pop() ?? null, left, right)) return false;
  }
  return true;
}

function pairEqual(a: Json, b: Json, left: Json[], right: Json[]): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) {
    if (!isJsonArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) {
      left.push(a[index] ?? null);
      right.push(b[index] ?? null);
    }
    return true;
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      left.push(a[key] ?? null);
      right.push(b[key] ?? null);
    }
    return true;
  }
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  if (kind === "integer") return BigInt(a as number | bigint) === BigInt(b as number | bigint);
  return kind === "number" && floatOf(a) === floatOf(b);
}
