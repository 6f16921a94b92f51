// The typed form of metadata: which fields there are, and of which type.

import { isJsonArray, isJsonObject, JsonNumber, setMember } from "@keelson/base";
import type { Json, MutableJson, MutableJsonObject } from "@keelson/base";
import { kindOf, scalarText } from "./go-value.ts";

/** Metadata with known fields only, or why it cannot be read. */
export type CoercedMetadata =
  | {
      readonly metadata: MutableJsonObject;
      /** The paths of what was dropped. */
      readonly unknown: readonly string[];
      readonly error?: undefined;
    }
  | { readonly error: string };

/** Brings metadata into its typed form: what is unknown, null or empty goes. */
export function coerceMetadata(value: Json): CoercedMetadata {
  const unknown: string[] = [];
  try {
    const metadata = readStruct(value, objectMeta, "", unknown) as MutableJsonObject;
    return { metadata, unknown };
  } catch (error) {
    if (error instanceof WrongType) return { error: error.message };
    throw error;
  }
}

interface Struct {
  /** The name of the type, as errors say it. */
  readonly name: string;
  readonly fields: Readonly<Record<string, Field>>;
}

type Field =
  | "string"
  | "int64"
  | "bool"
  | "time"
  | "object"
  | { readonly mapOf: "string" }
  | { readonly listOf: "string" | Struct };

const ownerReference: Struct = {
  name: "OwnerReference",
  fields: {
    apiVersion: "string",
    kind: "string",
    name: "string",
    uid: "string",
    controller: "bool",
    blockOwnerDeletion: "bool",
  },
};

const managedFieldsEntry: Struct = {
  name: "ManagedFieldsEntry",
  fields: {
    manager: "string",
    operation: "string",
    apiVersion: "string",
    time: "time",
    fieldsType: "string",
    fieldsV1: "object",
    subresource: "string",
  },
};

const objectMeta: Struct = {
  name: "ObjectMeta",
  fields: {
    name: "string",
    generateName: "string",
    namespace: "string",
    selfLink: "string",
    uid: "string",
    resourceVersion: "string",
    generation: "int64",
    creationTimestamp: "time",
    deletionTimestamp: "time",
    deletionGracePeriodSeconds: "int64",
    labels: { mapOf: "string" },
    annotations: { mapOf: "string" },
    ownerReferences: { listOf: ownerReference },
    finalizers: { listOf: "string" },
    managedFields: { listOf: managedFieldsEntry },
  },
};

/** Fields whose empty value is not the same as none. */
const pointers = new Set(["controller", "blockOwnerDeletion", "deletionGracePeriodSeconds"]);
/** Fields that are written even when they are empty. */
const always = new Set([
  "OwnerReference.apiVersion",
  "OwnerReference.kind",
  "OwnerReference.name",
  "OwnerReference.uid",
]);

class WrongType extends Error {}

const goNames: Partial<Record<string, string>> = {
  uid: "types.UID",
  operation: "v1.ManagedFieldsOperationType",
};

function wrongType(value: Json, place: string, type: string): WrongType {
  const kind = kindOf(value);
  const found =
    kind === "integer" || kind === "number" ? "number" : kind === "boolean" ? "bool" : kind;
  const at = place === "" ? "Go value" : `Go struct field ${place}`;
  return new WrongType(`json: cannot unmarshal ${found} into ${at} of type ${type}`);
}

function readStruct(value: Json, struct: Struct, path: string, unknown: string[]): MutableJson {
  if (value === null) return {};
  if (!isJsonObject(value))
    throw wrongType(value, path === "" ? "" : `${struct.name}.${path}`, `v1.${struct.name}`);
  const read: MutableJsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const field = Object.hasOwn(struct.fields, name) ? struct.fields[name] : undefined;
    const place = path === "" ? name : `${path}.${name}`;
    if (field === undefined) {
      unknown.push(place);
      continue;
    }
    if (member === null) continue;
    const result = readField(member, field, { struct, name, path: place }, unknown);
    if (result !== undefined) setMember(read, name, result);
  }
  for (const name of Object.keys(struct.fields)) {
    if (always.has(`${struct.name}.${name}`) && !Object.hasOwn(read, name)) read[name] = "";
  }
  return read;
}

interface Where {
  readonly struct: Struct;
  readonly name: string;
  readonly path: string;
}

function readField(
  value: Json,
  field: Field,
  { struct, name, path }: Where,
  unknown: string[],
): MutableJson | undefined {
  const place = `ObjectMeta.${path}`;
  const isKept = pointers.has(name) || always.has(`${struct.name}.${name}`);
  if (typeof field === "object") {
    if ("mapOf" in field) return readMap(value, place);
    return readList(value, field.listOf, place, path, unknown);
  }
  switch (field) {
    case "string":
      if (typeof value !== "string") throw wrongType(value, place, goNames[name] ?? "string");
      return value === "" && !isKept ? undefined : value;
    case "bool":
      if (typeof value !== "boolean") throw wrongType(value, place, "bool");
      return value;
    case "int64":
      if (kindOf(value) !== "integer") throw wrongInteger(value, place);
      return value === 0 && !isKept ? undefined : (value as number | bigint);
    case "time":
      if (typeof value !== "string") throw wrongType(value, place, "string");
      return value === "" ? undefined : value;
    case "object":
      return value as MutableJson;
  }
}

function wrongInteger(value: Json, place: string): WrongType {
  if (kindOf(value) !== "number") return wrongType(value, place, "int64");
  const text = value instanceof JsonNumber ? String(Number(value.text)) : scalarText(value);
  return new WrongType(
    `json: cannot unmarshal number ${text} into Go struct field ${place} of type int64`,
  );
}

function readMap(value: Json, place: string): MutableJsonObject | undefined {
  if (!isJsonObject(value)) throw wrongType(value, place, "map[string]string");
  const read: MutableJsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== null && typeof member !== "string") throw wrongType(member, place, "string");
    setMember(read, key, member ?? "");
  }
  return Object.keys(read).length === 0 ? undefined : read;
}

function readList(
  value: Json,
  items: "string" | Struct,
  place: string,
  path: string,
  unknown: string[],
): MutableJson[] | undefined {
  const type = items === "string" ? "[]string" : `[]v1.${items.name}`;
  if (!isJsonArray(value)) throw wrongType(value, place, type);
  const read = value.map((item, index): MutableJson => {
    if (items !== "string") return readStruct(item, items, `${path}[${index}]`, unknown);
    if (item === null) return "";
    if (typeof item !== "string") throw wrongType(item, place, "string");
    return item;
  });
  return read.length === 0 ? undefined : read;
}
