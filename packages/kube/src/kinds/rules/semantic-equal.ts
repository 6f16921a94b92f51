// Equality of decoded objects where two texts of one amount are the same.

import { isJsonArray, isJsonObject, jsonEqual, type Json } from "@keelson/base";

import { BadQuantity } from "../../quantity/quantity.ts";
import { compareAmounts } from "./amounts.ts";

/** Members whose texts are amounts, or maps of amounts. */
const amounts: ReadonlySet<string> = new Set([
  "limits",
  "requests",
  "overhead",
  "capacity",
  "hard",
  "used",
  "allocatable",
  "allocatedResources",
  "min",
  "max",
  "default",
  "defaultRequest",
  "maxLimitRequestRatio",
  "sizeLimit",
  "divisor",
]);

/** Whether two values mean the same. Absent and null are the same too. */
export function semanticEqual(a: Json | undefined, b: Json | undefined): boolean {
  const [left, right] = [a ?? null, b ?? null];
  return left === right || jsonEqual(left, right) || equal(left, right, { isAmount: false });
}

function equal(a: Json, b: Json, { isAmount }: { readonly isAmount: boolean }): boolean {
  if (typeof a === "string" && typeof b === "string") {
    return a === b || (isAmount && isSameAmount(a, b));
  }
  if (isJsonArray(a)) {
    if (!isJsonArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equal(item, b[index] ?? null, { isAmount: false }));
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every(
      (key) =>
        Object.hasOwn(b, key) &&
        equal(a[key] ?? null, b[key] ?? null, { isAmount: isAmount || amounts.has(key) }),
    );
  }
  return jsonEqual(a, b);
}

function isSameAmount(a: string, b: string): boolean {
  try {
    return compareAmounts(a, b) === 0;
  } catch (error) {
    if (error instanceof BadQuantity) return false;
    throw error;
  }
}
