// Equality of decoded objects where two texts of one amount are the same.

import { isJsonArray, isJsonObject, jsonEqual, type Json } from "@keelson/base";

import { BadQuantity } from "../../quantity/quantity.ts";
import { compareAmounts } from "./amounts.ts";

/** Members that are maps of amounts. Where the keys are the user's own, such a key holds a text and no map. */
const amountMaps: ReadonlySet<string> = new Set([
  "limits",
  "requests",
  "overhead",
  "capacity",
  "allocatedResources",
]);

/** Members that are amounts, by what they are in. */
const amounts: ReadonlyMap<string, string> = new Map([
  ["emptyDir", "sizeLimit"],
  ["resourceFieldRef", "divisor"],
]);

/** Whether two values mean the same. Absent and null are the same too. */
export function semanticEqual(a: Json | undefined, b: Json | undefined): boolean {
  const [left, right] = [a ?? null, b ?? null];
  return left === right || jsonEqual(left, right) || equal(left, right, "");
}

/** `holder` is the member that both are the values of. */
function equal(a: Json, b: Json, holder: string): boolean {
  if (isJsonArray(a)) {
    if (!isJsonArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equal(item, b[index] ?? null, ""));
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => {
      if (!Object.hasOwn(b, key)) return false;
      const [left, right] = [a[key] ?? null, b[key] ?? null];
      if (typeof left !== "string" || typeof right !== "string") return equal(left, right, key);
      const isAmount = amountMaps.has(holder) || amounts.get(holder) === key;
      return left === right || (isAmount && isSameAmount(left, right));
    });
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
