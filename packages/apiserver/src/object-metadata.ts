// The metadata of objects that may hold anything.

import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import { memberOf } from "@keelson/kube";

import { integerAt } from "./fields.ts";

const none: JsonObject = {};

/** The metadata; empty if there is none. Not to be changed. */
export function metadataOf(object: JsonObject): JsonObject {
  const metadata = memberOf(object, "metadata");
  return isJsonObject(metadata) ? metadata : none;
}

/** The metadata of an object that belongs to the caller, made if there is none. */
export function ownMetadata(object: MutableJsonObject): MutableJsonObject {
  const metadata = object["metadata"];
  if (isJsonObject(metadata)) return metadata;
  const made: MutableJsonObject = {};
  object["metadata"] = made;
  return made;
}

/** A text of the metadata; empty if it is absent or something else. */
export function metadataText(object: JsonObject, name: string): string {
  const value = memberOf(metadataOf(object), name);
  return typeof value === "string" ? value : "";
}

/** A number of the metadata; undefined if it is absent or something else. */
export function metadataNumber(object: JsonObject, name: string): number | undefined {
  const value = memberOf(metadataOf(object), name);
  return typeof value === "number" ? value : undefined;
}

/** How many seconds an object that is being deleted is given: an integer of 64 bits. */
export function deletionGraceOf(object: JsonObject): number | bigint {
  return integerAt(metadataOf(object), "deletionGracePeriodSeconds");
}

export function nameOf(object: JsonObject): string {
  return metadataText(object, "name");
}

export function namespaceOf(object: JsonObject): string {
  return metadataText(object, "namespace");
}

export function uidOf(object: JsonObject): string {
  return metadataText(object, "uid");
}

export function labelsOf(object: JsonObject): JsonObject {
  const labels = memberOf(metadataOf(object), "labels");
  return isJsonObject(labels) ? labels : none;
}

/** The finalizers that hold an object. */
export function finalizersOf(object: JsonObject): readonly string[] {
  const finalizers = memberOf(metadataOf(object), "finalizers");
  return isJsonArray(finalizers) ? finalizers.filter(isText) : [];
}

export function ownersOf(object: JsonObject): readonly JsonObject[] {
  const owners = memberOf(metadataOf(object), "ownerReferences");
  return isJsonArray(owners) ? owners.filter(isJsonObject) : [];
}

/** Whether somebody has asked for the object's deletion. */
export function isTerminating(object: JsonObject): boolean {
  return metadataText(object, "deletionTimestamp") !== "";
}

function isText(value: Json): value is string {
  return typeof value === "string";
}
