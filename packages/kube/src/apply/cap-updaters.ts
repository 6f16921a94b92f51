// A bound on how many updaters an object remembers (KB 46).

import { compareBytes } from "../go-text/byte-order.ts";
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
    const owned =
      into === undefined ? managed.owned : OwnedFields.of(managed.owned.set.union(into.owned.set));
    // The time of the later one.
    result.set(bucketKey, { ...bucket, time: managed.time, owned });
    count -= 1;
  }
  return result;
}

function bucketOf({ apiVersion }: ManagedSet): Omit<ManagedSet, "owned" | "time"> {
  return { manager: "ancient-changes", operation: "Update", apiVersion, subresource: "" };
}
