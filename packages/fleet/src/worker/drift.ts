// What has become of our fields in a cluster.

import { isJsonArray, isJsonObject, jsonEqual, type Json, type JsonObject } from "@keelson/base";
import {
  appliedVersion,
  managerAt,
  ownsAll,
  pointerOf,
  valueAt,
  type OwnedField,
} from "./owned-fields.ts";

/** A field of ours that says something else, or nothing. An alias, not an interface: only so is it JSON to the compiler. */
export type Drifted = {
  /** A JSON pointer. */
  readonly path: string;
  readonly desired: Json;
  /** Null: it is gone. */
  readonly current: Json;
  /** Who wrote it, where the object tells. */
  readonly manager: string | null;
};

/** How many fields are told of: one who replaces the object has changed all of them. */
const driftedMax = 100;

/**
 * Compares an object with what the server made of our last apply. Both are the server's own words, so nothing is normalised.
 * In another version than we applied it fields may have other names and values: there one that others have changed is known
 * by its being ours no longer.
 */
export function driftOf(
  object: JsonObject,
  owned: readonly OwnedField[],
  manager: string,
): Drifted[] {
  const drifted: Drifted[] = [];
  const version = appliedVersion(object, manager);
  const isOther = version !== undefined && version !== object["apiVersion"];
  for (const { path, value } of owned) {
    const current = valueAt(object, path);
    const isTranslated = isOther && path[0] !== "metadata"; // Our marks are there in all versions.
    const isHeld = (isTranslated || isWhole(value)) && ownsAll(object, manager, [path]);
    if (isTranslated ? isHeld : current !== undefined && (isHeld || isSame(value, current))) {
      continue;
    }
    drifted.push({
      path: pointerOf(object, path),
      desired: value,
      current: current ?? null,
      manager: managerAt(object, path, manager) ?? null,
    });
    if (drifted.length === driftedMax) break;
  }
  return drifted;
}

/**
 * A list or map that we have as a whole is either one that nobody can change without taking it from us, or one that we
 * applied empty and others fill. Either way it has drifted only if it is ours no longer, which the object knows.
 */
function isWhole(value: Json): boolean {
  return isJsonArray(value) || isJsonObject(value);
}

/** Of a list or map that we only said to be there others may say what is in it. */
function isSame(owned: Json, current: Json): boolean {
  if (isJsonArray(owned) && owned.length === 0) return isJsonArray(current);
  if (isJsonObject(owned) && Object.keys(owned).length === 0) return isJsonObject(current);
  return jsonEqual(owned, current);
}
