// Ownership given up: what an applier asked for last time, does not ask for now, and nobody else owns.

import type { JsonObject } from "@keelson/base";

import { FieldSet } from "./field-set.ts";
import type { ManagedSet, Managers } from "./managed-fields.ts";
import { removeItems } from "./remove-items.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { VersionedKind } from "./versioned-kind.ts";

export interface PruneInput {
  /** All managers, the applier with what it asks for now. */
  readonly managers: Managers;
  readonly mine: ManagedSet;
  /** What the applier asked for last time, if there was one. */
  readonly last: ManagedSet | undefined;
}

/** The merged object without what its applier has given up. Not changed if there is nothing. */
export function prune(
  kind: VersionedKind,
  merged: JsonObject,
  { managers, mine, last }: PruneInput,
): JsonObject {
  if (last === undefined || last.owned.isEmpty) return merged;
  const type = kind.typeIn(last.apiVersion);
  if (type === undefined) return merged;
  // The usual apply gives up nothing, and then nothing below can remove anything either.
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
  const owned = new Map<string, FieldSet>();
  for (const managed of managers.values()) {
    const known = owned.get(managed.apiVersion) ?? new FieldSet();
    owned.set(managed.apiVersion, known.union(managed.owned.set));
  }
  // The version of the removal first: what is pruned may be needed for a conversion.
  const versions = [apiVersion, ...[...owned.keys()].filter((version) => version !== apiVersion)];
  let result = pruned;
  for (const version of versions) {
    const type = kind.typeIn(version);
    const managed = owned.get(version);
    if (type === undefined || managed === undefined) continue;
    const whole = kind.convert(merged, version);
    const present =
      version === apiVersion ? presentHere : toFieldSet(type, whole).withNamedFields(type);
    const kept = toFieldSet(type, kind.convert(result, version)).withNamedFields(type);
    const gone = present.difference(kept.union(managed.withNamedFields(type)));
    result = removeItems(type, whole, gone) as JsonObject;
  }
  return result;
}
