// Whose an object is: our mark on it, and our hand that put it there. The mark alone proves nothing: others copy it.

import type { DynamicObject } from "@keelson/client";
import { annotations, fieldManager } from "./desired-object.ts";
import { ownsAll } from "./owned-fields.ts";

/** The row that an object says it belongs to, whoever says so. */
export function claimedRow(object: DynamicObject): number | undefined {
  const id = object.metadata.annotations?.[annotations.resourceId];
  return id !== undefined && /^[1-9]\d{0,9}$/.test(id) ? Number(id) : undefined;
}

/** The row that an object belongs to: it says so, and we are who made it say so. */
export function markedRow(object: DynamicObject): number | undefined {
  const id = claimedRow(object);
  if (id === undefined) return undefined;
  const path = ["metadata", "annotations", annotations.resourceId];
  return ownsAll(object, fieldManager, [path]) ? id : undefined;
}
