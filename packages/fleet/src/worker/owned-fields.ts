// Which fields of an object are ours, and what they say. An object knows it: its managed fields name them.

import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  JsonSyntaxError,
  readJson,
  type Json,
  type JsonObject,
} from "@keelson/base";

/** One step into an object: a member, or the item of a list that has these keys, or that is this value. */
export type Step = string | { readonly keys: JsonObject } | { readonly item: Json };

/** A field of ours with what it says, the whole of it. */
export interface OwnedField {
  readonly path: readonly Step[];
  readonly value: Json;
}

/** The fields of the object that the manager has applied, with their values. */
export function ownedFields(object: JsonObject, manager: string): OwnedField[] {
  const found: OwnedField[] = [];
  const { fields } = entriesOf(object).find((entry) => isOurs(entry, manager)) ?? {};
  if (fields !== undefined) collect(object, fields, [], found);
  return found;
}

/** The version in which the manager has applied its fields, and in which they are named; undefined if nobody knows. */
export function appliedVersion(object: JsonObject, manager: string): string | undefined {
  const { version = "" } = entriesOf(object).find((entry) => isOurs(entry, manager)) ?? {};
  return version === "" ? undefined : version;
}

/** A field that somebody else has said, with what it says. */
export interface ForeignField extends OwnedField {
  readonly manager: string;
}

/** The fields of the object that others have written, besides its status. The latest writer of each comes first. */
export function foreignFields(object: JsonObject, besides: string): ForeignField[] {
  return entriesOf(object)
    .filter((entry) => !isOurs(entry, besides) && entry.subresource !== "status")
    .toSorted((a, b) => (a.time < b.time ? 1 : -1))
    .flatMap(({ manager, fields }) => {
      const found: OwnedField[] = [];
      collect(object, fields, [], found);
      return found.map((field) => ({ ...field, manager }));
    });
}

/** Managed fields as they are worth keeping: who owns what, without the status. */
export function keptManagedFields(object: JsonObject): readonly JsonObject[] {
  const { metadata } = object;
  const managed = isJsonObject(metadata) ? metadata["managedFields"] : undefined;
  if (!isJsonArray(managed)) return [];
  return managed
    .filter(isJsonObject)
    .filter(({ subresource }) => subresource !== "status")
    .map((entry) => {
      const { fieldsV1 } = entry;
      const { "f:status": _, ...fields } = isJsonObject(fieldsV1) ? fieldsV1 : {};
      return { ...entry, fieldsV1: fields };
    });
}

/** The value at a path; undefined if there is none. */
export function valueAt(object: Json, path: readonly Step[]): Json | undefined {
  let value: Json | undefined = object;
  for (const step of path) {
    if (value === undefined) return undefined;
    value = child(value, step)?.value;
  }
  return value;
}

/** The path as a JSON pointer into `object`; an item that it does not have is written by its keys. */
export function pointerOf(object: Json, path: readonly Step[]): string {
  let value: Json | undefined = object;
  let pointer = "";
  for (const step of path) {
    const next: Child | undefined = value === undefined ? undefined : child(value, step);
    const name = next?.name ?? nameOf(step);
    pointer += `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    value = next?.value;
  }
  return pointer;
}

/** Who else says something at a path: the last to have written it. */
export function managerAt(
  object: JsonObject,
  path: readonly Step[],
  besides: string,
): string | undefined {
  const others = entriesOf(object).filter((entry) => !isOurs(entry, besides));
  return others
    .filter(({ fields }) => holds(fields, path))
    .toSorted((a, b) => (a.time < b.time ? 1 : -1))
    .at(0)?.manager;
}

/** Whether the manager has applied every one of these paths. */
export function ownsAll(
  object: JsonObject,
  manager: string,
  paths: readonly (readonly Step[])[],
): boolean {
  const ours = entriesOf(object).find((entry) => isOurs(entry, manager));
  return ours !== undefined && paths.every((path) => holds(ours.fields, path));
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource: string;
  readonly version: string;
  readonly time: string;
  readonly fields: JsonObject;
}

function entriesOf(object: JsonObject): readonly Entry[] {
  const { metadata } = object;
  const managed = isJsonObject(metadata) ? metadata["managedFields"] : undefined;
  if (!isJsonArray(managed)) return [];
  return managed.filter(isJsonObject).map((entry) => {
    const { manager, operation, subresource, apiVersion, time, fieldsV1 } = entry;
    return {
      manager: textOf(manager),
      operation: textOf(operation),
      subresource: textOf(subresource),
      version: textOf(apiVersion),
      time: textOf(time),
      fields: isJsonObject(fieldsV1) ? fieldsV1 : {},
    };
  });
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function isOurs({ manager, operation, subresource }: Entry, name: string): boolean {
  return manager === name && operation === "Apply" && subresource === "";
}

function collect(
  value: Json,
  fields: JsonObject,
  path: readonly Step[],
  found: OwnedField[],
): void {
  const members = Object.entries(fields).filter(([name]) => name !== ".");
  if (members.length === 0) {
    // The list or map itself: that it is there is all we said, and its members are others' to fill.
    const isBare = Object.hasOwn(fields, ".");
    found.push({ path, value: isBare ? (isJsonArray(value) ? [] : {}) : value });
    return;
  }
  for (const [name, inner] of members) {
    const step = stepOf(name);
    const next = step === undefined ? undefined : child(value, step);
    if (step === undefined || next === undefined) continue;
    collect(next.value, isJsonObject(inner) ? inner : {}, [...path, step], found);
  }
}

/**
 * `f:name`, `k:{"name":"web"}` and `v:"text"`, as the server writes them. Positions (`i:`) it writes no more; what a server
 * that is not Kubernetes' own writes otherwise leads nowhere.
 */
function stepOf(name: string): Step | undefined {
  const rest = name.slice(2);
  if (name.startsWith("f:")) return rest;
  if (!name.startsWith("k:") && !name.startsWith("v:")) return undefined;
  const value = jsonIn(rest);
  if (value === undefined) return undefined;
  if (name.startsWith("v:")) return { item: value };
  return isJsonObject(value) ? { keys: value } : undefined;
}

function jsonIn(text: string): Json | undefined {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function holds(fields: JsonObject, path: readonly Step[]): boolean {
  let inner: JsonObject = fields;
  for (const step of path) {
    const next = Object.entries(inner).find(([name]) => {
      const other = stepOf(name);
      return other !== undefined && sameStep(other, step);
    });
    if (next === undefined) {
      // Whoever holds a field whole holds what is in it.
      return inner !== fields && Object.keys(inner).length === 0;
    }
    inner = isJsonObject(next[1]) ? next[1] : {};
  }
  return true;
}

/** A path that was not read from an object may lack keys that the server fills in. */
function sameStep(entry: Step, asked: Step): boolean {
  if (typeof entry === "string" || typeof asked === "string") return entry === asked;
  if ("keys" in entry && "keys" in asked) return hasKeys(entry.keys, asked.keys);
  return jsonEqual(entry, asked);
}

interface Child {
  readonly name: string;
  readonly value: Json;
}

function child(value: Json, step: Step): Child | undefined {
  if (typeof step === "string") {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    const member = value[step];
    return member === undefined ? undefined : { name: step, value: member };
  }
  if (!isJsonArray(value)) return undefined;
  const index = value.findIndex((item) =>
    "item" in step ? jsonEqual(item, step.item) : hasKeys(item, step.keys),
  );
  const item = value[index];
  return item === undefined ? undefined : { name: String(index), value: item };
}

function hasKeys(item: Json, keys: JsonObject): boolean {
  return (
    isJsonObject(item) &&
    Object.entries(keys).every(([name, value]) => {
      const own = Object.hasOwn(item, name) ? item[name] : undefined;
      return own !== undefined && jsonEqual(own, value);
    })
  );
}

function nameOf(step: Step): string {
  if (typeof step === "string") return step;
  const parts = "item" in step ? [step.item] : Object.values(step.keys);
  return parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(",");
}
