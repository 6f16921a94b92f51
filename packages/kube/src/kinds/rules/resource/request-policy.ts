// How much of a device's capacity may be asked for at once.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import { has, listOf, maybeObject } from "../../../object/members.ts";
import { addQuantities, parseQuantity, printQuantity } from "../../../quantity/quantity.ts";
import { compareAmounts, showAmount, wholeUnits } from "../amounts.ts";
import type { Place } from "../place.ts";
import { checkSet } from "./sets.ts";

const optionsMax = 10;

/** Reports a policy that its capacity cannot keep. */
export function checkRequestPolicy(policy: JsonObject, at: Place, capacity: string): void {
  const values = listOf(policy, "validValues").map(showAmount);
  const range = maybeObject(policy, "validRange");
  const standard = has(policy, "default") ? amount(policy, "default") : undefined;
  if (values.length > 0 && range !== undefined) {
    at.forbidden(
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    );
  } else if (values.length > 0) {
    if (standard === undefined) {
      at.child("default").required("required when validValues is defined");
    } else checkValues(values, at.child("validValues"), { standard, capacity });
  } else if (range !== undefined) {
    if (standard === undefined) {
      at.child("default").required("required when validRange is defined");
    } else checkRange(range, at.child("validRange"), { standard, capacity });
  }
}

interface Limits {
  /** What is given to who asks for nothing. */
  readonly standard: string;
  readonly capacity: string;
}

function amount(object: JsonObject, name: string): string {
  return showAmount(memberOf(object, name) ?? "0");
}

function checkValues(values: readonly string[], at: Place, { standard, capacity }: Limits): void {
  for (const [index, value] of values.entries()) {
    const before = values[index - 1];
    if (before !== undefined && compareAmounts(before, value) > 0) {
      at.item(index).invalid(value, "values must be sorted in ascending order");
    }
  }
  checkSet(values, at, {
    max: optionsMax,
    check: (value, own) => {
      if (compareAmounts(value, capacity) > 0) {
        own.invalid(value, `option is larger than capacity value: ${capacity}`);
      }
    },
    keyOf: (value) => String(wholeUnits(value)),
  });
  const isListed =
    values.length <= optionsMax && values.some((value) => compareAmounts(value, standard) === 0);
  if (!isListed) {
    at.invalid(standard, "default value is not valid according to the requestPolicy");
  }
}

function checkRange(range: JsonObject, at: Place, { standard, capacity }: Limits): void {
  if (!has(range, "min")) {
    at.child("min").required("required when validRange is defined");
    return;
  }
  const min = amount(range, "min");
  if (compareAmounts(min, capacity) > 0) {
    at.child("min").invalid(min, `min is larger than capacity value: ${capacity}`);
  }
  if (compareAmounts(standard, min) < 0) {
    at.child("min").invalid(standard, `default is less than min: ${min}`);
  }
  const max = has(range, "max") ? amount(range, "max") : undefined;
  if (max !== undefined) {
    const place = at.child("max");
    if (compareAmounts(min, max) > 0) place.invalid(min, `min is larger than max: ${max}`);
    if (compareAmounts(max, capacity) > 0) {
      place.invalid(max, `max is larger than capacity value: ${capacity}`);
    }
    if (compareAmounts(standard, max) > 0) {
      place.invalid(standard, `default is more than max: ${max}`);
    }
  }
  if (!has(range, "step")) return;
  const step = amount(range, "step");
  const place = at.child("step");
  const added = printQuantity(addQuantities(parseQuantity(min), parseQuantity(step)));
  if (compareAmounts(added, capacity) > 0) {
    place.invalid(step, `one step ${added} is larger than capacity value: ${capacity}`);
  }
  for (const value of max === undefined ? [standard] : [standard, max]) {
    const size = wholeUnits(step);
    if (size !== 0n && (wholeUnits(value) - wholeUnits(min)) % size !== 0n) {
      place.invalid(value, `value is not a multiple of a given step (${step}) from (${min})`);
    }
  }
}
