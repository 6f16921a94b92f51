// Server-side apply, and the tracking of every other write (KB 41–50).

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { apiVersionOf } from "../object/api-version.ts";
import { memberOf } from "../object/member.ts";
import { refuseDeepNesting } from "../object/nesting.ts";
import { badRequest, invalid, unexplained } from "../status/failures.ts";
import { typeInvalidField } from "../status/field-error.ts";
import { capUpdaters } from "./cap-updaters.ts";
import { ApplyConflicts } from "./conflicts.ts";
import { BadPathElement } from "./item-element.ts";
import { clientAppliedFields, migratingManager, withLastApplied } from "./last-applied.ts";
import {
  BadManagedFields,
  decodeManagedFields,
  encodeManagedFields,
  managedFieldsOf,
  managerKey,
  withManagedFields,
  type ManagedSet,
  type Managers,
} from "./managed-fields.ts";
import { mergeTypeOf } from "./merge-type.ts";
import { OwnedFields } from "./owned-fields.ts";
import { applyConfiguration, trackUpdate, UnknownVersion, type Writer } from "./ownership.ts";
import { systemFields } from "./system-fields.ts";
import { findTypedErrors, printTypedErrors } from "./typed-errors.ts";
import { versionedKind, type ManagedKind } from "./versioned-kind.ts";

/** Who writes, and when. */
export interface WriteOptions {
  /** The `fieldManager` parameter, or what `managerFromUserAgent` makes of the client. */
  readonly manager: string;
  /** The time for entries that change, as `Time` is written: `2026-01-01T00:00:00Z`. */
  readonly now: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Whether to take fields from others instead of failing. */
  readonly force: boolean;
}

/** What an apply made. */
export interface Applied {
  /** The merged object with its managed fields, before defaults and validation. */
  readonly object: JsonObject;
  /** Whether anything but managed fields differs from the live object. */
  readonly isChanged: boolean;
}

/** The managed fields of one kind at one endpoint. Pure: the same arguments give the same answers. */
export interface FieldManager {
  /**
   * Applies a configuration to an object; to `undefined` to create one. Throws a `StatusError`: 409 for conflicts,
   * 400 for a wrong version or managed fields in the configuration, 422 for items with the same keys.
   */
  apply(live: JsonObject | undefined, config: JsonObject, options: ApplyOptions): Applied;

  /**
   * The object as it shall be stored after any other write: `next`, defaulted, with its managed fields brought up to
   * date. Never fails: what cannot be understood is forgotten.
   */
  update(live: JsonObject | undefined, next: JsonObject, options: WriteOptions): JsonObject;
}

/** Compiles the schemas of a kind; keep the result for as long as the kind does not change. */
export function fieldManager(kind: ManagedKind): FieldManager {
  const versions = versionedKind(kind);
  const type = mergeTypeOf(kind.schema);
  const apiVersion = apiVersionOf(kind);
  const subresource = kind.subresource ?? "";
  const empty: JsonObject = { apiVersion, kind: kind.kind, ...kind.empty };

  const writer = (manager: string, operation: "Apply" | "Update"): Writer => ({
    manager: manager === "" ? "unknown" : manager,
    operation,
    apiVersion,
    subresource,
  });

  /** Undefined if the objects do not fit the schema. */
  const track = (
    live: JsonObject,
    next: JsonObject,
    stored: Managers,
    { manager, now }: WriteOptions,
  ): Managers | undefined => {
    if (findTypedErrors(type, next, loosely).length > 0) return undefined;
    if (findTypedErrors(type, live, loosely).length > 0) return undefined;
    const identity = writer(manager, "Update");
    const key = managerKey(identity);
    const outcome = trackOrForget(() => trackUpdate(versions, live, next, { stored, writer: key }));
    if (outcome === undefined) return undefined;
    const { managers, changed } = outcome;
    const set = changed.difference(systemFields);
    if (set.isEmpty) return capUpdaters(managers);
    const previous = managers.get(key)?.owned;
    const result = new Map(managers);
    result.set(key, {
      ...identity,
      time: now,
      owned: previous === undefined ? OwnedFields.of(set) : previous.union(set),
    });
    return capUpdaters(result);
  };

  const applyOnce = (
    live: JsonObject,
    config: JsonObject,
    stored: Managers,
    { manager, force, now }: ApplyOptions,
  ): { managers: Managers; object: JsonObject | undefined } => {
    const identity = writer(manager, "Apply");
    const outcome = applyConfiguration(versions, live, config, stored, { writer: identity, force });
    const managers = new Map(outcome.managers);
    const key = managerKey(identity);
    const mine = managers.get(key);
    if (mine !== undefined && outcome.object !== undefined)
      managers.set(key, { ...mine, time: now });
    return { managers, object: outcome.object };
  };

  return {
    apply: (live, config, options) => {
      refuseDeepNesting(config);
      const current = live ?? empty;
      const stored = decodeForApply(current);
      checkKind(kind, config);
      const bare = withManagedFields(current, undefined);
      if (stored.size === 0) checkUntracked(kind, bare);
      checkTyped(kind, bare, config);

      const started =
        stored.size === 0
          ? (track(empty, bare, stored, { manager: "before-first-apply", now: options.now }) ??
            stored)
          : stored;
      let outcome;
      try {
        outcome = applyOnce(bare, config, started, options);
      } catch (error) {
        if (error instanceof UnknownVersion) throw unexplained(error.message);
        if (error instanceof BadPathElement) {
          throw unexplained(`failed to decode managed fields: ${error.message}`);
        }
        if (!(error instanceof ApplyConflicts)) throw error;
        const allowed =
          options.manager === migratingManager
            ? clientAppliedFields(type, bare, apiVersion)
            : undefined;
        const rest = allowed === undefined ? error : error.without(allowed);
        if (rest.conflicts.length > 0) throw rest.toStatus();
        outcome = applyOnce(bare, config, started, { ...options, force: true });
      }
      const merged = outcome.object ?? bare;
      const object =
        options.manager === migratingManager ? withLastApplied(merged, config) : merged;
      return {
        object: withManagedFields(object, encodeManagedFields(outcome.managers)),
        isChanged: object !== bare,
      };
    },

    update: (live, next, options) => {
      const current = live ?? empty;
      const stored = storedManagers(current, next, {
        isSubresource: subresource !== "",
        isCustom: kind.isCustom === true,
      });
      const bare = withManagedFields(next, undefined);
      // Without managed fields an object is not tracked; only its creation begins it.
      if (stored.size === 0 && uidOf(current) !== "") return bare;
      const managers = track(withManagedFields(current, undefined), bare, stored, options);
      return managers === undefined ? bare : withManagedFields(bare, encodeManagedFields(managers));
    },
  };
}

const loosely = { allowDuplicates: true };

function decodeForApply(live: JsonObject): Managers {
  try {
    return decodeManagedFields(managedFieldsOf(live), { trusted: true });
  } catch (error) {
    if (!(error instanceof BadManagedFields)) throw error;
    throw unexplained(`failed to decode managed fields: ${error.message}`);
  }
}

function checkKind(kind: ManagedKind, config: JsonObject): void {
  const text = (name: string): string => {
    const value = memberOf(config, name);
    return typeof value === "string" ? value : "";
  };
  const { group, version } = parseApiVersion(text("apiVersion"));
  if (group !== kind.group || version !== kind.version || text("kind") !== kind.kind) {
    throw badRequest(`invalid object type: ${printKind(group, version, text("kind"))}`);
  }
}

/** An object that nobody was tracked on is given to `before-first-apply`, which must understand it. */
function checkUntracked(kind: ManagedKind, live: JsonObject): void {
  const errors = findTypedErrors(mergeTypeOf(kind.schema), live, loosely);
  if (errors.length === 0) return;
  const where = `failed to convert new object (${describe(kind, live)}) to smd typed`;
  throw unexplained(
    `failed to create manager for existing fields: ${where}: ${printTypedErrors(errors)}`,
  );
}

/** `apps/v1, Kind=Deployment`. */
function printKind(group: string, version: string, kind: string): string {
  return `${group}/${version}, Kind=${kind}`;
}

/** A version with more than one slash names nothing. */
function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const parts = apiVersion.split("/");
  if (parts.length === 1) return { group: "", version: apiVersion };
  if (parts.length === 2) return { group: parts[0] ?? "", version: parts[1] ?? "" };
  return { group: "", version: "" };
}

function checkTyped(kind: ManagedKind, live: JsonObject, config: JsonObject): void {
  if (isJsonArray(managedFieldsOf(config))) throw badRequest("metadata.managedFields must be nil");
  const type = mergeTypeOf(kind.schema);
  const errors = findTypedErrors(type, config, { allowDuplicates: false });
  if (errors.length > 0) {
    const text = printTypedErrors(errors);
    const message = `failed to create typed patch object (${describe(kind, config)}): ${text}`;
    // KB 44: Kubernetes answers 500, but it is the client who can mend it.
    if (errors.every(({ isDuplicate }) => isDuplicate)) {
      throw invalid({ group: kind.group, kind: kind.kind }, nameOf(config), [
        typeInvalidField("patch", message, "items of a list must differ in their keys"),
      ]);
    }
    throw unexplained(message);
  }
  const liveErrors = findTypedErrors(type, live, loosely);
  if (liveErrors.length > 0) {
    const text = printTypedErrors(liveErrors);
    throw unexplained(`failed to create typed live object (${describe(kind, live)}): ${text}`);
  }
}

function describe({ group, version, kind }: ManagedKind, object: JsonObject): string {
  return `${metadataText(object, "namespace")}/${nameOf(object)}; ${printKind(group, version, kind)}`;
}

function nameOf(object: JsonObject): string {
  return metadataText(object, "name");
}

function uidOf(object: JsonObject): string {
  return metadataText(object, "uid");
}

function metadataText(object: JsonObject, name: string): string {
  const metadata = memberOf(object, "metadata");
  const value = isJsonObject(metadata) ? memberOf(metadata, name) : undefined;
  return typeof value === "string" ? value : "";
}

/** What a write goes by: the managed fields it sends, if they say anything, else the stored ones (KB 47). */
function storedManagers(
  live: JsonObject,
  next: JsonObject,
  { isSubresource, isCustom }: { readonly isSubresource: boolean; readonly isCustom: boolean },
): Managers {
  if (isSubresource) return decodeOrNone(managedFieldsOf(live));
  const sent = managedFieldsOf(next);
  if (isReset(sent, isCustom)) return none;
  const managers = decodeOrUndefined(sent);
  if (managers !== undefined && managers.size > 0) return managers;
  return decodeOrNone(managedFieldsOf(live));
}

const none: Managers = new Map<string, ManagedSet>();

/** `[{}]` asks to forget, and for built-in kinds `[]` does; for custom ones that is as if it were absent. */
function isReset(sent: Json | undefined, isCustom: boolean): boolean {
  if (!isJsonArray(sent) || sent.length > 1) return false;
  const [only] = sent;
  if (only === undefined) return !isCustom;
  return isJsonObject(only) && Object.keys(only).length === 0;
}

/** What cannot be tracked is forgotten: no write fails because of it. */
function trackOrForget<Outcome>(track: () => Outcome): Outcome | undefined {
  try {
    return track();
  } catch (error) {
    if (error instanceof UnknownVersion || error instanceof BadPathElement) return undefined;
    throw error;
  }
}

function decodeOrUndefined(entries: Json | undefined, trusted = false): Managers | undefined {
  try {
    return decodeManagedFields(entries, { trusted });
  } catch (error) {
    if (error instanceof BadManagedFields) return undefined;
    throw error;
  }
}

function decodeOrNone(entries: Json | undefined): Managers {
  return decodeOrUndefined(entries, true) ?? none;
}
