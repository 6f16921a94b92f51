import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { badRequest } from "../status/failures.ts";

/** How deeply arrays and objects of a request may be nested. What is deeper is refused before any rule walks it. */
export const nestingMax = 512;

/** Throws a `BadRequest` for a value that is nested too deeply to be walked safely. Takes linear time. */
export function refuseDeepNesting(value: Json): void {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > nestingMax) throw badRequest(`exceeded max depth of ${nestingMax}`);
    const next: Json[] = [];
    for (const container of level) collectContainers(container, next);
    level = next;
  }
}

function collectContainers(container: Json, into: Json[]): void {
  if (isJsonArray(container)) {
    for (const item of container) if (typeof item === "object" && item !== null) into.push(item);
  } else if (isJsonObject(container)) {
    for (const key of Object.keys(container)) {
      const member = container[key];
      if (typeof member === "object" && member !== null) into.push(member);
    }
  }
}
