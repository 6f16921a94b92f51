// Amounts by the name of a resource, as containers, claims and nodes have them.

import { setMember, type MutableJsonObject } from "@keelson/base";

import { memberOf } from "../../object/member.ts";
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  roundUpQuantity,
} from "../../quantity/quantity.ts";

const thousandths = -3;

/** Rounds what is finer than a thousandth, in place. */
export function roundUp(list: MutableJsonObject): void {
  for (const name of Object.keys(list)) {
    const amount = list[name];
    // Only these can be that fine.
    if (typeof amount !== "string" || !/[nu.]|[eE]-/.test(amount)) continue;
    setMember(list, name, printQuantity(roundUpQuantity(parseQuantity(amount), thousandths)));
  }
}

/** Adds to a list what another has and it has not. */
export function addMissing(list: MutableJsonObject, other: MutableJsonObject): void {
  for (const name of Object.keys(other)) {
    const amount = other[name];
    if (amount !== undefined && !Object.hasOwn(list, name)) setMember(list, name, amount);
  }
}

/** Adds the amounts of another list, in place. */
export function addAmounts(list: MutableJsonObject, other: MutableJsonObject): void {
  combine(list, other, (a, b) => printQuantity(addQuantities(parseQuantity(a), parseQuantity(b))));
}

/** Raises amounts to those of another list, in place. */
export function raiseAmounts(list: MutableJsonObject, other: MutableJsonObject): void {
  combine(list, other, (a, b) =>
    compareQuantities(parseQuantity(b), parseQuantity(a)) > 0 ? b : a,
  );
}

function combine(
  list: MutableJsonObject,
  other: MutableJsonObject,
  both: (a: string, b: string) => string,
): void {
  for (const name of Object.keys(other)) {
    const added = other[name];
    if (typeof added !== "string") continue;
    const present = memberOf(list, name);
    setMember(list, name, typeof present === "string" ? both(present, added) : added);
  }
}
