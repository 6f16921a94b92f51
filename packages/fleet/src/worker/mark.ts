// Whose an object is: our mark on it, and our hand that put it there. The mark alone proves nothing: others copy it.

import type { DynamicObject } from "@keelson/client";
import { integerMax } from "../resources/resource.ts";
import { annotations, fieldManager } from "./desired-object.ts";
import { ownsAll } from "./owned-fields.ts";

/** The row that an object says it belongs to, whoever says so. */
export function claimedRow(object: DynamicObject): number | undefined {
  return rowNumber(object.metadata.annotations?.[annotations.resourceId]);
}

/** The id, generation or revision that an annotation says. Anybody may write one: what no row can have is none. */
export function rowNumber(said: string | undefined): number | undefined {
  const number = said !== undefined && /^[1-9]\d{0,9}$/.test(said) ? Number(said) : undefined;
  return number !== undefined && number <= integerMax ? number : undefined;
}

/** The row that an object belongs to: it says so, and we are who made it say so. */
export function markedRow(object: DynamicObject): number | undefined {
  const id = claimedRow(object);
  if (id === undefined) return undefined;
  const path = ["metadata", "annotations", annotations.resourceId];
  return ownsAll(object, fieldManager, [path]) ? id : undefined;
}
