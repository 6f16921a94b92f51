// Whether a condition is true, where there may be several of one type.

import type { JsonObject } from "@keelson/base";

import { objectsOf, textOf } from "../../object/members.ts";

/** The first condition of a type, or nothing. */
export function firstCondition(status: JsonObject, type: string): JsonObject | undefined {
  return objectsOf(status, "conditions").find((one) => textOf(one, "type") === type);
}

/** Whether the first condition of a type is true, whatever others of that type say. */
export function isFirstTrue(status: JsonObject, type: string): boolean {
  return textOf(firstCondition(status, type) ?? {}, "status") === "True";
}

/** Whether some condition of a type is true. */
export function isAnyTrue(status: JsonObject, type: string): boolean {
  return hasCondition(status, type, "True");
}

/** Whether some condition of a type has this status. */
export function hasCondition(status: JsonObject, type: string, value: string): boolean {
  return objectsOf(status, "conditions").some(
    (one) => textOf(one, "type") === type && textOf(one, "status") === value,
  );
}
