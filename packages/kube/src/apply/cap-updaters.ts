// A bound on how many updaters an object remembers (KB 46).

import { compareBytes } from "../go-text/byte-order.ts";
import { FieldSet } from "./field-set.ts";
import { managerKey, secondsOf, type ManagedSet, type Managers } from "./managed-fields.ts";
import { OwnedFields } from "./owned-fields.ts";

/** How many entries of updaters an object keeps. */
const updatersMax = 10;

/** Merges the oldest updaters of each version into one, `ancient-changes`, until there are few enough. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === "Update");
  if (updaters.length <= updatersMax) return managers;
  updaters.sort(
    ([a, left], [b, right]) => secondsOf(left.time) - secondsOf(right.time) || compareBytes(a, b),
  );

  const result = new Map(managers);
  const firstOfVersion = new Map<string, string>();
  // What each bucket is made of: united when all of it is known.
  const merged = new Map<string, FieldSet[]>();
  let count = updaters.length;
  for (const [key] of updaters) {
    if (count <= updatersMax) break;
    const managed = result.get(key);
    if (managed === undefined) continue;
    const first = firstOfVersion.get(managed.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(managed.apiVersion, key);
      continue;
    }
    const bucket = bucketOf(managed);
    const bucketKey = managerKey(bucket);
    const into = result.get(bucketKey) ?? result.get(first);
    if (!result.has(bucketKey)) result.delete(first);
    result.delete(key);
    const sets = merged.get(bucketKey) ?? (into === undefined ? [] : [into.owned.set]);
    if (key !== bucketKey) sets.push(managed.owned.set);
    merged.set(bucketKey, sets);
    // The time of the later one.
    result.set(bucketKey, { ...bucket, time: managed.time, owned: managed.owned });
    count -= 1;
  }
  for (const [key, sets] of merged) {
    const bucket = result.get(key);
    if (bucket !== undefined)
      result.set(key, { ...bucket, owned: OwnedFields.of(FieldSet.unionOf(sets)) });
  }
  return result;
}

function bucketOf({ apiVersion }: ManagedSet): Omit<ManagedSet, "owned" | "time"> {
  return { manager: "ancient-changes", operation: "Update", apiVersion, subresource: "" };
}
