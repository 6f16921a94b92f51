// Who owns what after a change: the heart of server-side apply.

import type { Json, JsonObject } from "@keelson/base";

import { compareTyped, type Comparison } from "./compare-typed.ts";
import { ApplyConflicts, type ManagerConflict } from "./conflicts.ts";
import type { FieldSet } from "./field-set.ts";
import { droppedFields, unusual } from "./given-up.ts";
import { managerKey, type ManagedSet, type Managers } from "./managed-fields.ts";
import { deducedType, type MergeType } from "./merge-type.ts";
import { mergeTyped } from "./merge-typed.ts";
import { OwnedFields } from "./owned-fields.ts";

import { prune } from "./prune.ts";
import { reconcileSet } from "./reconcile-set.ts";
import { valuesEqual } from "./smd-value.ts";
import {
  hasPlainSystemFields,
  ignoredFields,
  isPlainReset,
  systemFields,
  withSystemFields,
} from "./system-fields.ts";
import { storedFieldsOf } from "./stored-fields.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { VersionedKind } from "./versioned-kind.ts";

/** Fields of a custom object are managed in a version that its kind does not have. */
export class UnknownVersion extends Error {
  readonly code = "UNKNOWN_VERSION";

  constructor(apiVersion: string) {
    super(`request to convert CR to an invalid group/version: ${apiVersion}`);
    this.name = "UnknownVersion";
  }
}

/** Who writes. */
export type Writer = Pick<ManagedSet, "manager" | "operation" | "apiVersion" | "subresource">;

/** What an update took: whoever owned a changed field loses it, the writer owns it. */
interface UpdateOutcome {
  readonly managers: Managers;
  /** What the writer changed; empty if nothing. */
  readonly changed: FieldSet;
}

/** What an apply made. */
interface ApplyOutcome {
  readonly managers: Managers;
  /** The merged object, before defaults; undefined if the live one is as it should be. */
  readonly object: JsonObject | undefined;
}

/**
 * Works out who loses what by an update from `live` to `next`. Both are in the kind's version. The one that writes keeps
 * what it changed, which would be its own again.
 */
export function trackUpdate(
  kind: VersionedKind,
  live: JsonObject,
  next: JsonObject,
  { stored, writer }: { readonly stored: Managers; readonly writer: string },
): UpdateOutcome {
  const managers = reconcile(kind, stored);
  const options = { skip: undefined, force: true, keeper: writer };
  const { rest, comparison } = settle(kind, live, next, managers, options);
  return { managers: rest, changed: comparison.modified.union(comparison.added) };
}

/**
 * Merges `config` into `live`, removes what the writer owned alone and no longer asks for, and settles who owns
 * what. Throws `ApplyConflicts` if that would change fields of others and is not forced.
 */
export function applyConfiguration(
  kind: VersionedKind,
  live: JsonObject,
  config: JsonObject,
  stored: Managers,
  { writer, force }: { readonly writer: Writer; readonly force: boolean },
): ApplyOutcome {
  const key = managerKey(writer);
  const type = typeIn(kind, kind.apiVersion);
  const before = stored.get(key);
  const asked = before === undefined ? undefined : askedFor(kind, type, config, before);
  const isSame = asked !== undefined && asked === before?.owned.stored;
  // A set that is just what is asked for now is in line with the schema of now.
  const managers = new Map(reconcile(kind, stored, isSame ? key : undefined));
  const merged = mergeTyped(type, live, config) as JsonObject;
  if (isSame) {
    const { rest } = settle(kind, live, merged, managers, { skip: key, force });
    return { managers: rest, object: sameOrUndefined(live, merged) };
  }

  const last = managers.get(key);
  const step =
    asked !== undefined && last !== undefined && last === before
      ? stepFromStored(type, config, last, asked)
      : stepBySets(kind, type, config);
  const mine: ManagedSet = { ...writer, time: last?.time, owned: step.named };
  managers.set(key, mine);
  const object = prune(kind, merged, { managers, mine, last, dropped: step.dropped });
  const { rest } = settle(kind, live, object, managers, { skip: key, force });
  if (step.owned.isEmpty) rest.delete(key);
  else rest.set(key, { ...mine, owned: step.owned });
  return { managers: rest, object: sameOrUndefined(live, object) };
}

/** What an applier asks for now. */
interface Step {
  /** All that it names. */
  readonly named: OwnedFields;
  /** The same without what nobody owns: to be stored. */
  readonly owned: OwnedFields;
  /** What it no longer names. */
  readonly dropped: FieldSet | undefined | typeof unusual;
}

/** The stored set of what is asked for, sharing with that of last time; undefined where it takes sets to know. */
function askedFor(
  kind: VersionedKind,
  type: MergeType,
  config: JsonObject,
  last: ManagedSet,
): JsonObject | undefined {
  const reset = kind.resetIn(kind.apiVersion);
  if (last.apiVersion !== kind.apiVersion || !isPlainReset(reset)) return undefined;
  if (type.map === undefined || type.map.isAtomic || !hasPlainSystemFields(config))
    return undefined;
  return storedFieldsOf(type.map, config, last.owned.stored, ignoredFields(reset));
}

function stepFromStored(
  type: MergeType,
  config: JsonObject,
  last: ManagedSet,
  asked: JsonObject,
): Step {
  const named = withSystemFields(asked, config);
  const dropped = droppedFields(type, last.owned.stored, named);
  return { named: OwnedFields.trust(named), owned: OwnedFields.trust(asked), dropped };
}

function stepBySets(kind: VersionedKind, type: MergeType, config: JsonObject): Step {
  const set = withoutReset(kind, kind.apiVersion, toFieldSet(type, config));
  const owned = OwnedFields.of(set.difference(systemFields));
  return { named: OwnedFields.of(set), owned, dropped: unusual };
}

function sameOrUndefined(live: JsonObject, object: JsonObject): JsonObject | undefined {
  return live === object || valuesEqual(live, object) ? undefined : object;
}

/** The sets, after whatever has become atomic since they were written. Versions that are gone are left out. */
function reconcile(kind: VersionedKind, stored: Managers, skip?: string): Managers {
  let result: Map<string, ManagedSet> | undefined;
  for (const [key, managed] of stored) {
    if (key === skip) continue;
    const type = kind.typeIn(managed.apiVersion);
    if (type === undefined && kind.isCustom) throw new UnknownVersion(managed.apiVersion);
    if (type !== undefined && !managed.owned.needsReconciling(type)) continue;
    result ??= new Map(stored);
    if (type === undefined) result.delete(key);
    else {
      const owned = OwnedFields.of(reconcileSet(type, managed.owned.set));
      result.set(key, { ...managed, owned });
    }
  }
  return result ?? stored;
}

/** Takes from every manager but `skip` what changed or went; from `keeper` only what went. */
function settle(
  kind: VersionedKind,
  live: JsonObject,
  next: JsonObject,
  managers: Managers,
  {
    skip,
    force,
    keeper,
  }: {
    readonly skip: string | undefined;
    readonly force: boolean;
    readonly keeper?: string;
  },
): { rest: Map<string, ManagedSet>; comparison: Comparison } {
  const byVersion = new Map<string, Changes>();
  const comparison = comparisonIn(kind, kind.apiVersion, live, next);
  byVersion.set(kind.apiVersion, changesOf(comparison));

  const rest = new Map(managers);
  const conflicts: ManagerConflict[] = [];
  for (const [key, managed] of managers) {
    if (key === skip) {
      if (managed.owned.isEmpty) rest.delete(key);
      continue;
    }
    let changes = byVersion.get(managed.apiVersion);
    if (changes === undefined) {
      if (kind.typeIn(managed.apiVersion) === undefined) {
        rest.delete(key);
        continue;
      }
      changes = changesOf(comparisonIn(kind, managed.apiVersion, live, next));
      byVersion.set(managed.apiVersion, changes);
    }
    let { owned } = managed;
    if (key !== keeper) {
      const fields = owned.intersection(changes.written);
      if (!fields.isEmpty) conflicts.push({ key, manager: managed, fields });
      owned = owned.difference(fields);
    }
    owned = owned.difference(changes.removed);
    if (owned.isEmpty) rest.delete(key);
    else if (owned !== managed.owned) rest.set(key, { ...managed, owned });
  }
  if (!force && conflicts.length > 0) throw new ApplyConflicts(conflicts);
  return { rest, comparison };
}

/** What a manager of some version may lose. */
interface Changes {
  readonly removed: FieldSet;
  /** What was modified or added. */
  readonly written: FieldSet;
}

function changesOf({ removed, modified, added }: Comparison): Changes {
  return { removed, written: modified.union(added) };
}

function comparisonIn(
  kind: VersionedKind,
  apiVersion: string,
  live: JsonObject,
  next: JsonObject,
): Comparison {
  const before: Json = kind.convert(live, apiVersion);
  const after: Json = kind.convert(next, apiVersion);
  const comparison = compareTyped(typeIn(kind, apiVersion), before, after);
  const reset = kind.resetIn(apiVersion);
  if (reset === undefined) return comparison;
  return {
    removed: comparison.removed.recursiveDifference(reset),
    modified: comparison.modified.recursiveDifference(reset),
    added: comparison.added.recursiveDifference(reset),
  };
}

function withoutReset(kind: VersionedKind, apiVersion: string, set: FieldSet): FieldSet {
  const reset = kind.resetIn(apiVersion);
  return reset === undefined ? set : set.recursiveDifference(reset);
}

function typeIn(kind: VersionedKind, apiVersion: string): MergeType {
  return kind.typeIn(apiVersion) ?? deducedType;
}
