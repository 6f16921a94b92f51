// What must be written so that a role or binding of ours has at least what we expect of it. Whatever others have added
// stays; whoever wants to be left alone says so with an annotation.

import { cloneJson, isJsonObject, jsonEqual, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import { objectAt, objectsAt, textAt } from "../fields.ts";
import { uncoveredRules } from "../auth/rbac/covers.ts";
import { readRules, writeRule } from "../auth/rbac/policy-rule.ts";

export type Reconciled =
  | { readonly action: "none" }
  | { readonly action: "create" | "update" | "recreate"; readonly object: JsonObject };

/** For a Role or ClusterRole: missing rules, selectors, labels and annotations are added. */
export function reconcileRole(existing: JsonObject | undefined, expected: JsonObject): Reconciled {
  if (existing === undefined) return { action: "create", object: expected };
  if (isProtected(existing)) return { action: "none" };
  const { aggregationRule: _, ...rest } = withMetadata(existing, expected);
  const missing = uncoveredRules(readRules(existing), readRules(expected)).map(writeRule);
  const rules =
    missing.length === 0 ? {} : { rules: [...objectsAt(existing, "rules"), ...missing] };
  return change(existing, { ...rest, ...rules, ...aggregationOf(existing, expected) });
}

/** For a RoleBinding or ClusterRoleBinding: missing subjects are added; one that gives another role is made anew. */
export function reconcileBinding(
  existing: JsonObject | undefined,
  expected: JsonObject,
): Reconciled {
  if (existing === undefined) return { action: "create", object: expected };
  if (isProtected(existing)) return { action: "none" };
  if (!jsonEqual(objectAt(existing, "roleRef"), objectAt(expected, "roleRef"))) {
    return { action: "recreate", object: expected };
  }
  const subjects = [...objectsAt(existing, "subjects")];
  for (const subject of objectsAt(expected, "subjects")) {
    if (!subjects.some((known) => jsonEqual(known, subject))) subjects.push(subject);
  }
  const object = withMetadata(existing, expected);
  return change(existing, subjects.length === 0 ? object : { ...object, subjects });
}

const autoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

function isProtected(object: JsonObject): boolean {
  return textAt(objectAt(objectAt(object, "metadata"), "annotations"), autoUpdate) === "false";
}

/** The existing object with the labels and annotations that it lacks. */
function withMetadata(existing: JsonObject, expected: JsonObject): JsonObject {
  const metadata = objectAt(existing, "metadata");
  const wanted = objectAt(expected, "metadata");
  const merged = (["labels", "annotations"] as const)
    .map((key) => [key, { ...objectAt(wanted, key), ...objectAt(metadata, key) }] as const)
    .filter(([, values]) => Object.keys(values).length > 0);
  return { ...existing, metadata: { ...metadata, ...Object.fromEntries(merged) } };
}

function aggregationOf(existing: JsonObject, expected: JsonObject): JsonObject {
  const wanted = memberOf(expected, "aggregationRule");
  if (!isJsonObject(wanted)) return {};
  const selectors = [...objectsAt(objectAt(existing, "aggregationRule"), "clusterRoleSelectors")];
  for (const selector of objectsAt(wanted, "clusterRoleSelectors")) {
    if (!selectors.some((known) => jsonEqual(known, selector))) selectors.push(selector);
  }
  return { aggregationRule: { clusterRoleSelectors: selectors } };
}

function change(existing: JsonObject, object: JsonObject): Reconciled {
  return jsonEqual(existing, object)
    ? { action: "none" }
    : { action: "update", object: cloneJson(object) };
}
