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
  return a === b ? 0 : compareQuantities(quantityFromJson(a), quantityFromJson(b));
}

/** The sign of an amount. */
export function signOf(amount: Json): number {
  if (typeof amount === "string" && /^[1-9][0-9]*[a-zA-Z]*$/.test(amount)) return 1;
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
  if (typeof amount === "string" && /^[0-9]+[kMGTPEi]*$/.test(amount)) return false;
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
