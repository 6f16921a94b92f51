// Who manages which fields: `metadata.managedFields`, read and written.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { compareBytes } from "../go-text/byte-order.ts";
import { goJsonString } from "../go-text/go-json.ts";
import { memberOf } from "../object/member.ts";
import { BadPathElement } from "./item-element.ts";
import { OwnedFields } from "./owned-fields.ts";

type ManagerOperation = "Apply" | "Update";

/** What one manager owns. */
export interface ManagedSet {
  readonly manager: string;
  readonly operation: ManagerOperation;
  readonly apiVersion: string;
  /** The endpoint of the write: "" for the object itself, else `status`, `scale`, … */
  readonly subresource: string;
  readonly time: string | undefined;
  readonly owned: OwnedFields;
}

/** Managers by what tells them apart: see `managerKey`. Owners replace it, they do not change it. */
export type Managers = ReadonlyMap<string, ManagedSet>;

/** Stored managed fields that cannot be understood. */
export class BadManagedFields extends Error {
  readonly code = "BAD_MANAGED_FIELDS";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "BadManagedFields";
  }
}

/** Name, operation and endpoint; an updater's version too, but not that of an applier, who has one entry. */
export function managerKey({
  manager,
  operation,
  apiVersion,
  subresource,
}: Pick<ManagedSet, "manager" | "operation" | "apiVersion" | "subresource">): string {
  const members: string[] = [];
  const add = (name: string, value: string): void => {
    if (value !== "") members.push(`"${name}":${goJsonString(value)}`);
  };
  add("manager", manager);
  add("operation", operation);
  if (operation !== "Apply") add("apiVersion", apiVersion);
  add("subresource", subresource);
  return `{${members.join(",")}}`;
}

/**
 * Reads `metadata.managedFields`. Throws a `BadManagedFields` if an entry cannot be understood. What is `trusted` was
 * written by us, and its field sets are not looked at until they are needed.
 */
export function decodeManagedFields(
  entries: Json | undefined,
  { trusted = false }: { readonly trusted?: boolean } = {},
): Managers {
  const managers = new Map<string, ManagedSet>();
  if (entries === undefined || entries === null) return managers;
  if (!isJsonArray(entries)) throw new BadManagedFields("managedFields must be a list");
  for (const [index, entry] of entries.entries()) {
    if (!isJsonObject(entry))
      throw new BadManagedFields("a managed fields entry must be an object");
    const managed = decodeEntry(entry, index, trusted);
    managers.set(managerKey(managed), managed);
  }
  return managers;
}

/** Writes `metadata.managedFields`, in order; undefined if nobody manages anything. */
export function encodeManagedFields(managers: Managers): JsonObject[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagedSets).map(encodeEntry);
}

/** The managed fields of an object, if it has any. */
export function managedFieldsOf(object: JsonObject): Json | undefined {
  const metadata = memberOf(object, "metadata");
  return isJsonObject(metadata) ? memberOf(metadata, "managedFields") : undefined;
}

/** The object with other managed fields, or without any. The original is not changed. */
export function withManagedFields(
  object: JsonObject,
  entries: readonly JsonObject[] | undefined,
): JsonObject {
  const metadata = memberOf(object, "metadata");
  if (entries === undefined) {
    if (!isJsonObject(metadata) || memberOf(metadata, "managedFields") === undefined) return object;
    const { managedFields: _, ...rest } = metadata;
    return { ...object, metadata: rest };
  }
  return {
    ...object,
    metadata: {
      ...(isJsonObject(metadata) ? metadata : {}),
      managedFields: entries,
    },
  };
}

/** Seconds since 1970, by which entries are ordered; none counts as zero. */
export function secondsOf(time: string | undefined): number {
  const ms = time === undefined ? 0 : Date.parse(time);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

function decodeEntry(entry: JsonObject, index: number, trusted: boolean): ManagedSet {
  const text = (name: string): string => {
    const value = memberOf(entry, name);
    return typeof value === "string" ? value : "";
  };
  const operation = text("operation");
  if (operation !== "Apply" && operation !== "Update") {
    throw new BadManagedFields("operation must be `Apply` or `Update`");
  }
  const apiVersion = text("apiVersion");
  if (apiVersion === "") throw new BadManagedFields("apiVersion must not be empty");
  const fieldsType = text("fieldsType");
  if (fieldsType === "") {
    throw new BadManagedFields(`missing fieldsType in managed fields entry ${index}`);
  }
  if (fieldsType !== "FieldsV1") {
    throw new BadManagedFields(
      `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`,
    );
  }
  const time = text("time");
  return {
    manager: text("manager"),
    operation,
    apiVersion,
    subresource: text("subresource"),
    time: time === "" ? undefined : time,
    owned: readOwned(memberOf(entry, "fieldsV1"), trusted),
  };
}

function readOwned(fields: Json | undefined, trusted: boolean): OwnedFields {
  if (trusted && isJsonObject(fields)) return OwnedFields.trust(fields);
  try {
    return OwnedFields.read(fields ?? {});
  } catch (error) {
    if (!(error instanceof BadPathElement)) throw error;
    throw new BadManagedFields(`error decoding set: ${error.message}`, { cause: error });
  }
}

function encodeEntry(managed: ManagedSet): JsonObject {
  const { manager, operation, apiVersion, subresource, time, owned } = managed;
  return {
    ...(manager === "" ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: owned.stored,
    ...(subresource === "" ? {} : { subresource }),
  };
}

function compareManagedSets(a: ManagedSet, b: ManagedSet): number {
  return (
    compareBytes(a.operation, b.operation) ||
    secondsOf(a.time) - secondsOf(b.time) ||
    compareBytes(a.manager, b.manager) ||
    compareBytes(a.apiVersion, b.apiVersion) ||
    compareBytes(a.subresource, b.subresource)
  );
}
