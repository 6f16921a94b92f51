// Counts of Pods that may be written as a part of all: 3, or `25%`.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../object/member.ts";
import { numberOf } from "../../object/members.ts";
import { checkNotNegative } from "./meta/checks.ts";
import type { Place } from "./place.ts";
import { percentProblems } from "./text-problems.ts";

/** Reports what is neither a number nor a part of all. */
export function checkIntOrPercent(holder: JsonObject, at: Place, name: string): void {
  const value = memberOf(holder, name);
  if (typeof value === "string") at.child(name).invalidEach(value, percentProblems(value));
  else checkNotNegative(holder, at, [name]);
}

/** Reports more than all. */
export function checkNotMoreThanAll(holder: JsonObject, at: Place, name: string): void {
  const value = memberOf(holder, name);
  if (
    typeof value === "string" &&
    percentProblems(value).length === 0 &&
    Number.parseInt(value, 10) > 100
  ) {
    at.child(name).invalid(value, "must not be greater than 100%");
  }
}

/** The number, or the percentage as a number; a text that is none is zero. */
export function intOrPercent(holder: JsonObject, name: string): number {
  const value = memberOf(holder, name);
  if (typeof value !== "string") return numberOf(holder, name);
  if (percentProblems(value).length === 0) return Number.parseInt(value, 10);
  return /^[+-]?[0-9]+$/.test(value) ? Number(value) : 0;
}
