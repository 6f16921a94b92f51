// Strategic merge patch: a merge patch that knows the lists of the built-in kinds (KB 31).

import {
  cloneJson,
  isJsonArray,
  isJsonObject,
  setMember,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { printType, printValue } from "../go-text/go-print.ts";
import { jsonTypeName } from "../go-text/json-type-name.ts";
import { quote } from "../go-text/quote.ts";
import { memberOf } from "../object/member.ts";
import { refuseDeepNesting } from "../object/nesting.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { badRequest, unexplained } from "../status/failures.ts";
import { withoutNulls } from "./merge-patch.ts";
import {
  deletePrefix,
  directive,
  orderPrefix,
  originalKey,
  retainKeys,
  withoutDirectives,
} from "./strategic-directives.ts";
import { lookupField, type PatchField } from "./strategic-field.ts";
import { mergeList, mergeOrderedLists } from "./strategic-list.ts";

/**
 * The object after the patch; the argument is not changed. `schema` carries the patch strategies and merge keys.
 * Throws a `StatusError` with the texts of Kubernetes for a patch that cannot be carried out.
 */
export function applyStrategicMergePatch(
  object: JsonObject,
  patch: Json,
  schema: StructuralSchema,
): JsonObject {
  refuseDeepNesting(patch);
  if (patch !== null && !isJsonObject(patch)) {
    throw badRequest(
      `json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObject(object as MutableJsonObject, cloneJson(patch ?? {}), schema);
}

/** The object after a patch, which is used up. What does not change is shared with the original, which stays. */
function mergeObject(
  before: MutableJsonObject,
  patch: MutableJsonObject,
  schema: StructuralSchema | undefined,
): MutableJsonObject {
  const whole = memberOf(patch, directive);
  if (whole !== undefined) return replaceOrDelete(whole, patch);
  const original: MutableJsonObject = { ...before };
  applyRetainKeys(original, patch);
  applyElementOrders(original, patch, schema);
  for (const key of Object.keys(patch)) {
    const value = memberOf(patch, key);
    if (value !== undefined) mergeMember(original, key, value, schema);
  }
  return original;
}

function replaceOrDelete(whole: MutableJson, patch: MutableJsonObject): MutableJsonObject {
  if (whole === "replace") {
    delete patch[directive];
    return patch;
  }
  if (whole === "delete") return {};
  throw unexplained(`unknown patch type: ${printValue(whole)} in map: ${printValue(patch)}`);
}

function applyRetainKeys(original: MutableJsonObject, patch: MutableJsonObject): void {
  const listed = memberOf(patch, retainKeys);
  if (listed === undefined) return;
  delete patch[retainKeys];
  if (!isJsonArray(listed)) throw badRequest("invalid patch format of retainKeys");
  const keys = new Set<unknown>(listed);
  for (const key of Object.keys(patch)) {
    const isExempt =
      patch[key] === null || key.startsWith(deletePrefix) || key.startsWith(orderPrefix);
    if (!isExempt && !keys.has(key)) throw badRequest("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(original)) if (!keys.has(key)) delete original[key];
}

/** Carries out `$setElementOrder/x`, together with the patch of that list. */
function applyElementOrders(
  original: MutableJsonObject,
  patch: MutableJsonObject,
  schema: StructuralSchema | undefined,
): void {
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(orderPrefix)) continue;
    const order = memberOf(patch, key);
    delete patch[key];
    const name = originalKey(key, orderPrefix);
    const ordered = mergeOrderedLists(listAt(original, name), listAt(patch, name), {
      order: expectList(order),
      field: lookupList(schema, name),
      mergeObject,
    });
    if (ordered === undefined) continue;
    setMember(original, name, ordered);
    delete patch[name];
  }
}

function mergeMember(
  original: MutableJsonObject,
  key: string,
  value: MutableJson,
  schema: StructuralSchema | undefined,
): void {
  const isDeletion = key.startsWith(deletePrefix);
  const name = isDeletion ? originalKey(key, deletePrefix) : key;
  if (value === null) {
    delete original[name];
    return;
  }
  const current = memberOf(original, name);
  if (current === undefined || formOf(current) !== formOf(value)) {
    if (!isDeletion) setClean(original, name, value);
    return;
  }
  if (isJsonObject(current) && isJsonObject(value)) {
    const field = lookupField(schema, name);
    const merged = field.strategy === "replace" ? value : mergeObject(current, value, field.schema);
    setMember(original, name, merged);
  } else if (isJsonArray(current) && isJsonArray(value)) {
    const field = lookupList(schema, name);
    const isMerged = field.strategy === "merge" || isDeletion;
    setMember(
      original,
      name,
      isMerged ? mergeList(current, value, { field, isDeletion, mergeObject }) : value,
    );
  } else {
    setMember(original, name, value);
  }
}

/** A value that meets nothing of its form: directives and nulls mean nothing in it. */
function setClean(original: MutableJsonObject, name: string, value: MutableJson): void {
  const clean = withoutDirectives(withoutNulls(value));
  if (clean === undefined) delete original[name];
  else setMember(original, name, clean);
}

function listAt(object: MutableJsonObject, name: string): MutableJson[] | undefined {
  const value = memberOf(object, name);
  return value === undefined ? undefined : expectList(value);
}

function expectList(value: MutableJson | undefined): MutableJson[] {
  if (isJsonArray(value)) return value;
  const type = (value ?? null) === null ? "%!s(<nil>)" : printType(value ?? null);
  throw unexplained(`expected a []interface {}, but received a ${type}`);
}

function lookupList(schema: StructuralSchema | undefined, name: string): PatchField {
  const field = lookupField(schema, name);
  if (field.isKnown) return field;
  throw unexplained(`unable to find api field ${quote(name)}`);
}

function formOf(value: Json): "object" | "array" | "scalar" {
  if (isJsonArray(value)) return "array";
  return isJsonObject(value) ? "object" : "scalar";
}
