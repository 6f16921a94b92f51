// Owner references with the same uid are one reference (KB 39).

import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  writeJson,
  type MutableJsonObject,
} from "@keelson/base";

import { ownMetadata } from "../object-metadata.ts";

/** All that a reference has: those that differ in it need not be compared. */
const names = ["uid", "name", "kind", "apiVersion", "controller", "blockOwnerDeletion"];

/** Drops repetitions in place, and says so. `isAfterAdmission` only changes the words. */
export function mergeOwnerReferences(
  object: MutableJsonObject,
  warn: (text: string) => void,
  { isAfterAdmission }: { readonly isAfterAdmission: boolean },
): void {
  const metadata = ownMetadata(object);
  const owners = metadata["ownerReferences"];
  if (!isJsonArray(owners) || owners.length < 2) return;
  const seen: MutableJsonObject[] = [];
  const alike = new Map<string, MutableJsonObject[]>();
  const repeated: string[] = [];
  for (const owner of owners) {
    if (!isJsonObject(owner)) continue;
    const key = writeJson(names.map((name) => owner[name] ?? null));
    const others = alike.get(key) ?? [];
    if (others.some((one) => jsonEqual(one, owner))) {
      repeated.push(typeof owner["uid"] === "string" ? owner["uid"] : "");
      continue;
    }
    others.push(owner);
    alike.set(key, others);
    seen.push(owner);
  }
  if (repeated.length === 0) return;
  metadata["ownerReferences"] = seen;
  const uids = [...new Set(repeated)].join(", ");
  warn(
    isAfterAdmission
      ? `.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`
      : `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`,
  );
}
