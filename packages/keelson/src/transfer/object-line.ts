// An object as a line of a file: what its owners said of it, and nothing that only its server knew.

import {
  isJsonArray,
  isJsonObject,
  readJson,
  writeJson,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { DynamicObject, OwnerReference } from "@keelson/client";

/** An object on its way from one place to another. */
export interface Travelling {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly labels: JsonObject;
  readonly annotations: JsonObject;
  readonly finalizers: readonly string[];
  readonly owners: readonly OwnerReference[];
  /** Whether somebody has deleted it, and finalizers hold it. */
  readonly isGoing: boolean;
  /** Everything besides metadata and status. */
  readonly content: JsonObject;
  readonly status: Json | undefined;
}

/** A line that is no object. The message has its number. */
export class BadLine extends Error {
  override readonly name = "BadLine";
  readonly code = "BAD_LINE";
}

/** The line of an object, without its end. */
export function lineOf(object: DynamicObject): string {
  const { apiVersion, kind, metadata, status, ...content } = object;
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  const kept: Record<string, Json | undefined> = {
    name,
    namespace,
    labels,
    annotations,
    finalizers,
    ownerReferences,
    deletionTimestamp: metadata.deletionTimestamp,
  };
  const said = Object.fromEntries(
    Object.entries(kept).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
  const line: JsonObject = {
    apiVersion,
    kind,
    metadata: said,
    ...content,
    ...(status === undefined ? {} : { status }),
  };
  return writeJson(line);
}

/** Reads a line. Throws `BadLine`. */
export function travellingOf(line: string, number: number): Travelling {
  let object: Json;
  try {
    object = readJson(line);
  } catch (cause) {
    throw new BadLine(`line ${number} is no JSON`, { cause });
  }
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  if (!isJsonObject(object) || !isJsonObject(metadata)) {
    throw new BadLine(`line ${number} is no object of Kubernetes`);
  }
  const { apiVersion, kind, metadata: _, status, ...content } = object;
  const { name, namespace } = metadata;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof name !== "string") {
    throw new BadLine(`line ${number} does not say which object it is`);
  }
  return {
    apiVersion,
    kind,
    namespace: typeof namespace === "string" ? namespace : undefined,
    name,
    labels: objectAt(metadata, "labels"),
    annotations: objectAt(metadata, "annotations"),
    finalizers: listAt(metadata, "finalizers").filter((one) => typeof one === "string"),
    owners: listAt(metadata, "ownerReferences").filter(
      (one): one is OwnerReference => isJsonObject(one) && typeof one["name"] === "string",
    ),
    isGoing: metadata["deletionTimestamp"] !== undefined,
    content,
    status,
  };
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

function listAt(object: JsonObject, key: string): readonly Json[] {
  const value = object[key];
  return isJsonArray(value) ? value : [];
}
