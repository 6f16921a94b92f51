// Values as server-side apply compares them: 1 and 1.0 are equal, and there is an order across types.

import { isJsonArray, isJsonObject, JsonNumber, type Json, type JsonObject } from "@keelson/base";

import { compareBytes } from "../go-text/byte-order.ts";
import { isInteger, printFloat } from "../go-text/go-print.ts";
import { quote } from "../go-text/quote.ts";
import { memberOf } from "../object/member.ts";

/** Whether two values are equal; numbers by value, objects whatever the order of their keys. */
export function valuesEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0;
  if (isJsonArray(a)) {
    if (!isJsonArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => valuesEqual(item, b[index] ?? null));
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => {
      const other = memberOf(b, key);
      return other !== undefined && valuesEqual(a[key] ?? null, other);
    });
  }
  return false;
}

/** The order of values: numbers, strings, booleans, lists, maps, null. */
export function compareValues(a: Json, b: Json): number {
  const byRank = rankOf(a) - rankOf(b);
  if (byRank !== 0) return byRank;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === "string" && typeof b === "string") return compareBytes(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (isJsonArray(a) && isJsonArray(b)) return compareLists(a, b);
  if (isJsonObject(a) && isJsonObject(b)) return compareMaps(a, b);
  return 0;
}

/** The text of a scalar in a path: `"http"`, `80`, `null`. */
export function printPathValue(value: Json): string {
  if (value === null) return "null";
  if (typeof value === "string") return quote(value);
  if (isNumber(value)) return isInteger(value) ? String(value) : printFloat(Number(value));
  if (isJsonArray(value)) return `[${value.map(printPathValue).join(",")}]`;
  if (isJsonObject(value)) {
    return Object.keys(value)
      .sort(compareBytes)
      .map((key) => `${key}=${printPathValue(value[key] ?? null)}`)
      .join("");
  }
  return String(value);
}

function isNumber(value: Json): value is number | bigint | JsonNumber {
  return typeof value === "number" || typeof value === "bigint" || value instanceof JsonNumber;
}

function compareNumbers(a: number | bigint | JsonNumber, b: number | bigint | JsonNumber): number {
  if (isInteger(a) && isInteger(b)) {
    const left = BigInt(a as number | bigint);
    const right = BigInt(b as number | bigint);
    return left < right ? -1 : Number(left > right);
  }
  const left = Number(a);
  const right = Number(b);
  return left < right ? -1 : Number(left > right);
}

function rankOf(value: Json): number {
  if (isNumber(value)) return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (isJsonArray(value)) return 3;
  return value === null ? 5 : 4;
}

function compareLists(a: readonly Json[], b: readonly Json[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareValues(a[i] ?? null, b[i] ?? null);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareMaps(a: JsonObject, b: JsonObject): number {
  const left = Object.keys(a).sort(compareBytes);
  const right = Object.keys(b).sort(compareBytes);
  for (let i = 0; i < left.length && i < right.length; i++) {
    const leftKey = left[i] ?? "";
    const rightKey = right[i] ?? "";
    const order =
      compareBytes(leftKey, rightKey) || compareValues(a[leftKey] ?? null, b[rightKey] ?? null);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
