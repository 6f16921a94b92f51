// When somebody must agree before a tool is used.

import { BadDuration, compilePattern, parseDuration, type FieldPlace } from "@keelson/kube";
import type { Static } from "typebox";

import type { approval } from "../schema-parts.ts";

/** Asks that an approval can be waited for, and that its patterns are some. */
export function checkApproval(given: Static<typeof approval> | undefined, at: FieldPlace): void {
  if (given === undefined) return;
  const { timeout, argumentMatches = [] } = given;
  if (timeout !== undefined) checkPositive(timeout, at.child("timeout"));
  for (const [index, { pattern }] of argumentMatches.entries()) {
    const { error } = compilePattern(pattern);
    if (error === undefined) continue;
    at.child("argumentMatches")
      .item(index)
      .child("pattern")
      .invalid(pattern, `must be a regular expression: ${error}`);
  }
}

/** Asks that a duration is longer than none. */
export function checkPositive(duration: string, at: FieldPlace): void {
  try {
    if (parseDuration(duration) <= 0n) at.invalid(duration, "must be longer than 0");
  } catch (error) {
    if (!(error instanceof BadDuration)) throw error;
    at.invalid(duration, error.message);
  }
}
