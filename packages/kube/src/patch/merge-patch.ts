// JSON merge patch (RFC 7386) as Kubernetes carries it out.

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

import { jsonTypeName } from "../go-text/json-type-name.ts";
import { memberOf } from "../object/member.ts";
import { refuseDeepNesting } from "../object/nesting.ts";
import { badRequest } from "../status/failures.ts";

/**
 * The object after the patch; the argument is not changed. Throws a `BadRequest` for a patch that is not an object.
 *
 * It differs from the RFC where Kubernetes does: nulls inside a list that replaces something other than an object
 * are left out too.
 */
export function applyMergePatch(object: JsonObject, patch: Json): JsonObject {
  refuseDeepNesting(patch);
  if (patch === null) throw badRequest("Invalid JSON Patch");
  if (!isJsonObject(patch)) {
    const type = jsonTypeName(patch);
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObjects(object as MutableJsonObject, cloneJson(patch));
}

/** The patch is used up. What does not change is shared with the original, which stays. */
function mergeObjects(before: MutableJsonObject, patch: MutableJsonObject): MutableJsonObject {
  const target: MutableJsonObject = { ...before };
  for (const key of Object.keys(patch)) {
    const value = memberOf(patch, key);
    if (value === undefined) continue;
    if (value === null) {
      delete target[key];
      continue;
    }
    const current = memberOf(target, key);
    if (!isJsonObject(current)) {
      setMember(target, key, withoutNulls(value));
    } else if (isJsonObject(value)) {
      setMember(target, key, mergeObjects(current, value));
    } else {
      setMember(target, key, value);
    }
  }
  return target;
}

/** Takes null members away at any depth, in place; null items of lists stay. */
export function withoutNulls(value: MutableJson): MutableJson {
  if (isJsonArray(value)) {
    for (const item of value) withoutNulls(item);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      const member = memberOf(value, key);
      if (member === null) delete value[key];
      else if (member !== undefined) withoutNulls(member);
    }
  }
  return value;
}
