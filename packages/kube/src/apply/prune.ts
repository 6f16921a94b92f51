// Ownership given up: what an applier asked for last time, does not ask for now, and nobody else owns.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { FieldSet } from "./field-set.ts";
import { unownedFields, unusual } from "./given-up.ts";
import type { ManagedSet, Managers } from "./managed-fields.ts";
import type { MergeType } from "./merge-type.ts";
import { removeItems } from "./remove-items.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { VersionedKind } from "./versioned-kind.ts";

interface PruneInput {
  /** All managers, the applier with what it asks for now. */
  readonly managers: Managers;
  readonly mine: ManagedSet;
  /** What the applier asked for last time, if there was one. */
  readonly last: ManagedSet | undefined;
  /** What `droppedFields` says of the two, if it was asked. */
  readonly dropped: FieldSet | undefined | typeof unusual;
}

/** The merged object without what its applier has given up. Not changed if there is nothing. */
export function prune(
  kind: VersionedKind,
  merged: JsonObject,
  { managers, mine, last, dropped }: PruneInput,
): JsonObject {
  if (last === undefined || last.owned.isEmpty) return merged;
  const type = kind.typeIn(last.apiVersion);
  if (type === undefined) return merged;
  const gone = goneInOneVersion(type, merged, { managers, mine, last, dropped });
  if (gone !== unusual) {
    return gone === undefined ? merged : (removeItems(type, merged, gone) as JsonObject);
  }
  return pruneWithSets(kind, type, merged, { managers, mine, last, dropped });
}

/** What goes if all is in one version, as it is but for kinds with several. */
function goneInOneVersion(
  type: MergeType,
  merged: JsonObject,
  { managers, mine, last, dropped }: PruneInput & { readonly last: ManagedSet },
): FieldSet | undefined | typeof unusual {
  if (dropped === undefined || dropped === unusual) return dropped;
  const { apiVersion } = last;
  if (mine.apiVersion !== apiVersion || merged["apiVersion"] !== apiVersion) return unusual;
  const owners: JsonObject[] = [];
  for (const managed of managers.values()) {
    if (managed.apiVersion !== apiVersion) return unusual;
    owners.push(managed.owned.stored);
  }
  // What has nothing left but empty lists goes too, wherever it is.
  if (hasEmptyList(merged)) return unusual;
  return unownedFields(type, merged, dropped, owners);
}

function hasEmptyList(value: Json): boolean {
  if (isJsonArray(value)) {
    if (value.length === 0) return true;
    for (const item of value) if (typeof item === "object" && hasEmptyList(item)) return true;
  } else if (isJsonObject(value)) {
    for (const key in value) {
      const member = value[key];
      if (typeof member === "object" && hasEmptyList(member)) return true;
    }
  }
  return false;
}

function pruneWithSets(
  kind: VersionedKind,
  type: MergeType,
  merged: JsonObject,
  { managers, mine, last }: PruneInput & { readonly last: ManagedSet },
): JsonObject {
  // Who gives up nothing removes nothing below either.
  if (last.apiVersion === mine.apiVersion && last.owned.isWithin(mine.owned.set)) return merged;

  const before = kind.convert(merged, last.apiVersion);
  const lastNamed = last.owned.set.withNamedFields(type);
  const bare = removeItems(type, before, lastNamed) as JsonObject;
  const present = toFieldSet(type, before).withNamedFields(type);
  const pruned = addBackOwned(kind, before, bare, {
    managers,
    present,
    apiVersion: last.apiVersion,
  });
  const kept = toFieldSet(type, kind.convert(pruned, last.apiVersion)).withNamedFields(type);
  // What was removed but had not been the applier's comes back too: unowned fields inside an item that went.
  const gone = present.difference(kept).intersection(lastNamed);
  return kind.convert(removeItems(type, before, gone) as JsonObject, mine.apiVersion);
}

/** Adds back what was removed but is owned by somebody, the applier included. */
function addBackOwned(
  kind: VersionedKind,
  merged: JsonObject,
  pruned: JsonObject,
  {
    managers,
    present: presentHere,
    apiVersion,
  }: { readonly managers: Managers; readonly present: FieldSet; readonly apiVersion: string },
): JsonObject {
  const owned = Map.groupBy(managers.values(), (managed) => managed.apiVersion);
  // The version of the removal first: what is pruned may be needed for a conversion.
  const versions = [apiVersion, ...[...owned.keys()].filter((version) => version !== apiVersion)];
  let result = pruned;
  for (const version of versions) {
    const type = kind.typeIn(version);
    const owners = owned.get(version);
    if (type === undefined || owners === undefined) continue;
    const managed = FieldSet.unionOf(owners.map((owner) => owner.owned.set));
    const whole = kind.convert(merged, version);
    const present =
      version === apiVersion ? presentHere : toFieldSet(type, whole).withNamedFields(type);
    const kept = toFieldSet(type, kind.convert(result, version)).withNamedFields(type);
    const gone = present.difference(kept.union(managed.withNamedFields(type)));
    result = removeItems(type, whole, gone) as JsonObject;
  }
  return result;
}
