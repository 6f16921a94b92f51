// Where a resource differs, field by field: what is wanted, what was sent, what is there, whose it is, and why.

import { isJsonObject, jsonEqual, type Json, type JsonObject } from "@keelson/base";
import { fieldManager } from "../worker/desired-object.ts";
import type { Drifted } from "../worker/drift.ts";
import {
  foreignFields,
  managerAt,
  ownsAll,
  pointerOf,
  valueAt,
  type OwnedField,
  type Step,
} from "../worker/owned-fields.ts";
import { changedPaths, pointerAmong } from "./changed-paths.ts";

/** A field that differs. An alias, not an interface: only so is it JSON to the compiler. */
export type DiffField = {
  /** A JSON pointer into the object that is there; items that it does not have are counted after those that it has. */
  readonly path: string;
  readonly desired: Json;
  readonly applied: Json;
  readonly current: Json;
  /** Who owns the field in the cluster. */
  readonly owner: string | null;
  /** `pending`: it was not sent yet. `drift`: somebody has changed what we sent. `foreign`: it is another manager's. */
  readonly cause: "pending" | "drift" | "foreign";
};

export interface Compared {
  /** Undefined: it is being deleted. */
  readonly desired: JsonObject | undefined;
  /** What was last sent; undefined: nothing was. */
  readonly applied: JsonObject | undefined;
  /** What is there, as a spec says it; null: nothing is, undefined: nobody has looked. */
  readonly current: JsonObject | null | undefined;
  readonly managedFields: readonly Json[];
  /** Our fields, as the server made them of what was sent. */
  readonly owned: readonly OwnedField[];
  readonly drift: readonly Drifted[];
  /** Whether fields of others are taken from them. */
  readonly isForcing: boolean;
}

/** The differing fields, in the order of their paths. */
export function diffOf(compared: Compared): readonly DiffField[] {
  const { managedFields } = compared;
  const present = compared.current ?? undefined;
  const live = present === undefined ? undefined : withManagers(present, managedFields);
  const fields = new Map<string, DiffField>();
  const add = (field: DiffField): void => {
    if (!fields.has(field.path)) fields.set(field.path, field);
  };
  for (const field of pendingFields(compared, live)) add(field);
  for (const field of driftedFields(compared)) add(field);
  if (live !== undefined && compared.desired !== undefined) {
    for (const field of othersFields(compared.desired, live)) add(field);
  }
  return [...fields.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function* pendingFields(
  { desired, applied, owned, isForcing }: Compared,
  live: JsonObject | undefined,
): Iterable<DiffField> {
  for (const steps of changedPaths(desired, applied, owned)) {
    const wanted = valueIn(desired, steps);
    const current = valueIn(live, steps);
    const owner = live === undefined ? null : ownerOf(live, steps);
    const isHeld = !isForcing && owner !== null && owner !== fieldManager;
    yield {
      path: pointerAmong([live, desired, applied], steps),
      desired: wanted,
      applied: valueIn(applied, steps),
      current,
      owner,
      cause: isHeld && !jsonEqual(wanted, current) ? "foreign" : "pending",
    };
  }
}

/** Of an object that is gone everything that was sent is. */
function* driftedFields({
  desired: wanted,
  applied,
  current,
  owned,
  drift,
}: Compared): Iterable<DiffField> {
  if (current === null) {
    for (const steps of changedPaths(applied, undefined, owned)) {
      const path = pointerAmong([wanted, applied], steps);
      const said = { path, desired: valueIn(wanted, steps), applied: valueIn(applied, steps) };
      yield { ...said, current: null, owner: null, cause: "drift" };
    }
    return;
  }
  for (const { path, desired, current: now, manager } of drift) {
    yield { path, desired, applied: desired, current: now, owner: manager, cause: "drift" };
  }
}

function* othersFields(desired: JsonObject, live: JsonObject): Iterable<DiffField> {
  for (const { path, value, manager } of foreignFields(live, fieldManager)) {
    // That a list or map is there is no difference; what is in it may be.
    if (isEmpty(value) || ownsAll(live, fieldManager, [path])) continue;
    const wanted = valueIn(desired, path);
    if (jsonEqual(wanted, value)) continue;
    const said = { desired: wanted, applied: null, current: value };
    yield { path: pointerOf(live, path), ...said, owner: manager, cause: "foreign" };
  }
}

function ownerOf(live: JsonObject, path: readonly Step[]): string | null {
  if (ownsAll(live, fieldManager, [path])) return fieldManager;
  return managerAt(live, path, fieldManager) ?? null;
}

function withManagers(spec: JsonObject, managedFields: readonly Json[]): JsonObject {
  const { metadata } = spec;
  return { ...spec, metadata: { ...(isJsonObject(metadata) ? metadata : {}), managedFields } };
}

function valueIn(document: JsonObject | undefined, path: readonly Step[]): Json {
  return document === undefined ? null : (valueAt(document, path) ?? null);
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
