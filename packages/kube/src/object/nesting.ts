import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { badRequest } from "../status/failures.ts";

/** How deeply arrays and objects of a request may be nested. What is deeper is refused before any rule walks it. */
export const nestingMax = 512;

/**
 * Throws a `BadRequest` for a value that is nested too deeply to be walked safely, or more than `levelsMax`. Takes linear
 * time.
 */
export function refuseDeepNesting(value: Json, levelsMax = nestingMax): void {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levelsMax) throw badRequest(`exceeded max depth of ${nestingMax}`);
    const next: Json[] = [];
    for (const container of level) collectContainers(container, next);
    level = next;
  }
}

/** The same for an object that has its managed fields, which repeat its nesting inside three levels of their own. */
export function refuseDeepObject(object: JsonObject): void {
  const { metadata } = object;
  if (!isJsonObject(metadata)) return refuseDeepNesting(object);
  const { managedFields, ...rest } = metadata;
  refuseDeepNesting({ ...object, metadata: rest });
  if (managedFields !== undefined) refuseDeepNesting(managedFields, nestingMax + 2);
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
