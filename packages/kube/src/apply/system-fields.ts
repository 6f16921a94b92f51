// What the server says of every object, and nobody owns.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { memberOf } from "../object/member.ts";
import { FieldSet } from "./field-set.ts";
import type { Ignored } from "./stored-fields.ts";

const ofObject = ["apiVersion", "kind"] as const;
const ofMetadata = [
  "name",
  "namespace",
  "creationTimestamp",
  "selfLink",
  "uid",
  "clusterName",
  "generation",
  "managedFields",
  "resourceVersion",
] as const;

/** The fields that no manager's set has. */
export const systemFields: FieldSet = FieldSet.of(
  ...ofObject.map((name) => [name]),
  ["metadata"],
  ...ofMetadata.map((name) => ["metadata", name]),
);

/** The same, and fields of the whole object that a write cannot change. */
export function ignoredFields(reset: FieldSet | undefined): Ignored {
  const names = new Set<string>(ofObject);
  for (const [name, node] of reset?.fields ?? []) if (node.isMember) names.add(name);
  const metadata: Ignored = { names: new Set<string>(ofMetadata), inside: new Map() };
  return { names, inside: new Map([["metadata", metadata]]) };
}

/** Whether `ignoredFields` says all of what a write cannot change. */
export function isPlainReset(reset: FieldSet | undefined): boolean {
  if (reset === undefined) return true;
  for (const node of reset.fields.values()) if (node.children !== undefined) return false;
  return reset.items.size === 0;
}

/** Whether the system fields that a configuration names are scalars, as they are wherever there is a schema. */
export function hasPlainSystemFields(config: JsonObject): boolean {
  const metadata = memberOf(config, "metadata");
  return (
    ofObject.every((name) => isScalar(memberOf(config, name))) &&
    (!isJsonObject(metadata) || ofMetadata.every((name) => isScalar(memberOf(metadata, name))))
  );
}

function isScalar(value: Json | undefined): boolean {
  return typeof value !== "object" || value === null;
}

/** A stored set together with the system fields that its configuration names, as if they could be owned. */
export function withSystemFields(stored: JsonObject, config: JsonObject): JsonObject {
  const result = { ...stored, ...named(config, ofObject) };
  const metadata = memberOf(config, "metadata");
  if (metadata === undefined) return result;
  const inside = stored["f:metadata"];
  const names = isJsonObject(metadata) ? named(metadata, ofMetadata) : {};
  return { ...result, "f:metadata": isJsonObject(inside) ? { ...inside, ...names } : names };
}

function named(object: JsonObject, names: readonly string[]): JsonObject {
  const found: Record<string, Json> = {};
  for (const name of names) if (memberOf(object, name) !== undefined) found[`f:${name}`] = {};
  return found;
}
