// Amounts in specs. An amount is canonical text; it is parsed only where its text does not tell enough.

import type { Json, JsonObject } from "@keelson/base";

import { memberOf } from "../../object/member.ts";
import {
  compareQuantities,
  parseQuantity,
  printQuantity,
  quantityFromJson,
  scaledValue,
  type Quantity,
} from "../../quantity/quantity.ts";
import type { Place } from "./place.ts";
import { isWhole } from "./resource-names.ts";

const zero = parseQuantity("0");

/** The amount under a name; none is zero. */
export function amountOf(map: JsonObject, name: string): Quantity {
  const value = memberOf(map, name);
  return value === undefined || value === null ? zero : quantityFromJson(value);
}

/** Negative, zero or positive, as `a` is less than, equal to or more than `b`. */
export function compareAmounts(a: Json, b: Json): number {
  if (a === b) return 0;
  const [left, right] = [thousandths(a), thousandths(b)];
  if (left !== undefined && right !== undefined) return left - right;
  return compareQuantities(quantityFromJson(a), quantityFromJson(b));
}

const factors: ReadonlyMap<string, number> = new Map([
  ["m", 1],
  ["", 1000],
  ["k", 1e6],
  ["M", 1e9],
  ["G", 1e12],
  ["Ki", 1000 * 2 ** 10],
  ["Mi", 1000 * 2 ** 20],
  ["Gi", 1000 * 2 ** 30],
]);

/** Almost every amount is a few digits and a suffix, and a double holds its thousandths; undefined for the others. */
function thousandths(amount: Json): number | undefined {
  if (typeof amount !== "string") return undefined;
  let [digits, value] = [0, 0];
  while (digits < amount.length) {
    const digit = amount.charCodeAt(digits) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    digits += 1;
  }
  const factor = factors.get(amount.slice(digits));
  if (digits === 0 || factor === undefined) return undefined;
  const product = value * factor;
  return Number.isSafeInteger(product) ? product : undefined;
}

/** Negative, zero or positive, as the amount is. */
export function signOf(amount: Json): number {
  const simple = thousandths(amount);
  if (simple !== undefined) return simple;
  return compareQuantities(quantityFromJson(amount), zero);
}

export function showAmount(amount: Json): string {
  return typeof amount === "string" ? amount : printQuantity(quantityFromJson(amount));
}

/** The amount in whole units, rounded away from zero. */
export function wholeUnits(amount: Json): bigint {
  return scaledValue(quantityFromJson(amount), 0);
}

/** Whether the amount has thousandths that are no whole units. */
export function isFractional(amount: Json): boolean {
  const simple = thousandths(amount);
  if (simple !== undefined) return simple % 1000 !== 0;
  return scaledValue(quantityFromJson(amount), -3) % 1000n !== 0n;
}

/** Reports an amount of a resource that is negative, or in parts where only whole ones are counted. */
export function checkAmount(
  amount: Json,
  at: Place,
  { resource }: { readonly resource: string },
): void {
  if (signOf(amount) < 0) at.invalid(showAmount(amount), "must be greater than or equal to 0");
  if (isWhole(resource) && isFractional(amount))
    at.invalid(showAmount(amount), "must be an integer");
}

/** Reports less than nothing, as it is said of amounts of storage. */
export function checkBasicAmount(amount: Json, at: Place): void {
  const units = wholeUnits(amount);
  if (units < 0n) at.invalid(units, "must be a valid resource quantity");
}
