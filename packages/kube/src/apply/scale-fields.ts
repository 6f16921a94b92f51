// Who manages the number of replicas, seen from `/scale` (KB 45).

import type { Json, JsonObject } from "@keelson/base";

import { FieldSet, type PathStep } from "./field-set.ts";
import { decodeManagedFields, encodeManagedFields, type ManagedSet } from "./managed-fields.ts";
import { OwnedFields } from "./owned-fields.ts";

/** The version of every `Scale`. */
const scaleVersion = "autoscaling/v1";
const scalePath: readonly PathStep[] = ["spec", "replicas"];

/** Where the replicas are in each version of the parent; undefined where a version has none. */
export type ReplicasPaths = ReadonlyMap<string, readonly PathStep[] | undefined>;

/**
 * The managed fields of a `Scale`: of those who own the parent's replicas, and nothing else. Throws `BadManagedFields`.
 */
export function scaleManagedFields(
  parent: Json | undefined,
  paths: ReplicasPaths,
): JsonObject[] | undefined {
  const result = new Map<string, ManagedSet>();
  for (const [key, managed] of decodeManagedFields(parent)) {
    const path = paths.get(managed.apiVersion);
    if (path === undefined || !managed.owned.has(path)) continue;
    const owned = OwnedFields.of(FieldSet.of(scalePath));
    result.set(key, { ...managed, apiVersion: scaleVersion, owned });
  }
  return encodeManagedFields(result);
}

/**
 * The managed fields of the parent after a write to its `Scale`: whoever lost the replicas there loses them here,
 * and who took them owns them in `apiVersion`. Throws `BadManagedFields`.
 */
export function parentManagedFields(
  parent: Json | undefined,
  scale: Json | undefined,
  { paths, apiVersion }: { readonly paths: ReplicasPaths; readonly apiVersion: string },
): JsonObject[] | undefined {
  const scaled = new Map(decodeManagedFields(scale));
  const result = new Map<string, ManagedSet>();
  const before = decodeManagedFields(parent);
  for (const [key, managed] of before) {
    if (!paths.has(managed.apiVersion)) continue;
    const path = paths.get(managed.apiVersion);
    if (path === undefined || !managed.owned.has(path)) {
      result.set(key, managed);
    } else if (scaled.delete(key)) {
      result.set(key, managed);
    } else {
      const owned = managed.owned.difference(FieldSet.of(path));
      if (!owned.isEmpty) result.set(key, { ...managed, owned });
    }
  }
  const own = paths.get(apiVersion);
  for (const [key, managed] of scaled) {
    if (own === undefined || !managed.owned.has(scalePath)) continue;
    // The time is the parent's, which has none for somebody new: so the real server has it.
    const time = before.get(key)?.time;
    result.set(key, { ...managed, apiVersion, time, owned: OwnedFields.of(FieldSet.of(own)) });
  }
  return encodeManagedFields(result);
}
