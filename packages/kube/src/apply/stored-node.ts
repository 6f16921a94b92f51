// One node of a stored field set.

import type { JsonObject } from "@keelson/base";

/** Whether anything below the node is in the set. */
export function hasInside(value: JsonObject): boolean {
  for (const key in value) if (key !== ".") return true;
  return false;
}

/** Whether the node itself is in the set. */
export function isMember(value: JsonObject): boolean {
  return value["."] !== undefined || !hasInside(value);
}
