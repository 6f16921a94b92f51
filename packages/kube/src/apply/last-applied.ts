// From `kubectl apply` on the client to server-side apply (KB 48).

import { isJsonObject, JsonSyntaxError, readJson, type Json, type JsonObject } from "@keelson/base";

import { byteLength } from "../go-text/byte-order.ts";
import { goJson } from "../go-text/go-json.ts";
import { memberOf } from "../object/member.ts";
import { annotationsBytesMax } from "../object/metadata-rules.ts";
import { compareTyped } from "./compare-typed.ts";
import type { FieldSet } from "./field-set.ts";
import type { MergeType } from "./merge-type.ts";
import { toFieldSet } from "./to-field-set.ts";
import { findTypedErrors } from "./typed-errors.ts";

/** The manager whose applies take over what the client applied before. */
export const migratingManager = "kubectl";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * The fields that the client applied and that nobody changed since: the migrating manager may take them from
 * anybody. Undefined if the annotation says nothing that can be used.
 */
export function clientAppliedFields(
  type: MergeType,
  live: JsonObject,
  apiVersion: string,
): FieldSet | undefined {
  const text = lastAppliedOf(live);
  if (text === undefined || findTypedErrors(type, live, strictly).length > 0) return undefined;
  const applied = parse(text);
  if (applied === undefined || memberOf(applied, "apiVersion") !== apiVersion) return undefined;
  if (findTypedErrors(type, applied, strictly).length > 0) return undefined;
  const { modified, added, removed } = compareTyped(type, applied, live);
  return toFieldSet(type, applied).difference(modified).difference(added).difference(removed);
}

/** The object with the annotation brought up to date, if it has one. */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  if (lastAppliedOf(object) === undefined) return object;
  const metadata = memberOf(object, "metadata") as JsonObject;
  const annotations = memberOf(metadata, "annotations") as JsonObject;
  const { [annotation]: _, ...others } = annotations;
  const value = `${goJson(withoutAnnotation(config))}\n`;
  const next: JsonObject = fits(others, value) ? { ...others, [annotation]: value } : others;
  return { ...object, metadata: { ...metadata, annotations: next } };
}

const strictly = { allowDuplicates: false };

function lastAppliedOf(object: JsonObject): string | undefined {
  const metadata = memberOf(object, "metadata");
  const annotations = isJsonObject(metadata) ? memberOf(metadata, "annotations") : undefined;
  const text = isJsonObject(annotations) ? memberOf(annotations, annotation) : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: Json = readJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const metadata = memberOf(config, "metadata");
  const annotations = isJsonObject(metadata) ? memberOf(metadata, "annotations") : undefined;
  if (!isJsonObject(metadata) || !isJsonObject(annotations)) return config;
  const { [annotation]: _, ...others } = annotations;
  return { ...config, metadata: { ...metadata, annotations: others } };
}

function fits(annotations: JsonObject, value: string): boolean {
  let bytes = byteLength(annotation) + byteLength(value);
  for (const [key, text] of Object.entries(annotations)) {
    bytes += byteLength(key) + byteLength(typeof text === "string" ? text : "");
  }
  return bytes <= annotationsBytesMax;
}
