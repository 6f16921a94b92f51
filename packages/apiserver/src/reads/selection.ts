// Selectors as clients write them become selectors as the store takes them (KB 22).

import {
  BadSelector,
  failures,
  parseFieldSelector,
  parseLabelSelector,
  quote,
  type FieldRequirement,
  type LabelRequirement,
} from "@keelson/kube";
import type {
  FieldRequirement as StoreField,
  LabelRequirement as StoreLabel,
  Selector,
} from "@keelson/store";

import type { Resource } from "../resources/resource.ts";

/** The selector of a request. Throws a `BadRequest` for what the resource does not know. */
export function selectorOf(
  resource: Resource,
  texts: { readonly labels: string; readonly fields: string; readonly name: string },
): Selector {
  try {
    const labels = parseLabelSelector(texts.labels).map(labelRequirement);
    const fields = parseFieldSelector(texts.fields).map((one) => fieldRequirement(resource, one));
    if (texts.name !== "") checkName(fields, texts.name);
    const isNamed = fields.some(({ path, operator }) => operator === "Equals" && isName(path));
    if (texts.name !== "" && !isNamed) {
      fields.push({ path: ["metadata", "name"], operator: "Equals", value: texts.name });
    }
    return { labels, fields };
  } catch (error) {
    if (error instanceof BadSelector) throw failures.badRequest(error.message);
    throw error;
  }
}

/** A path that names an object leaves no room for another name in the selector. */
function checkName(fields: readonly StoreField[], name: string): void {
  if (fields.length === 0) return;
  const named = fields.find(({ path, operator }) => operator === "Equals" && isName(path));
  if (named?.value === name) return;
  throw failures.badRequest("fieldSelector metadata.name doesn't match requested name");
}

function isName(path: readonly string[]): boolean {
  return path.length === 2 && path[0] === "metadata" && path[1] === "name";
}

function labelRequirement({ key, operator, values }: LabelRequirement): StoreLabel {
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return { key, operator: "In", values };
    case "notin":
    case "!=":
      return { key, operator: "NotIn", values };
    case "exists":
      return { key, operator: "Exists" };
    case "!":
      return { key, operator: "DoesNotExist" };
    case "gt":
    case "lt": {
      const [value = ""] = values;
      return { key, operator: operator === "gt" ? "Gt" : "Lt", value };
    }
  }
}

function fieldRequirement(
  resource: Resource,
  { field, operator, value }: FieldRequirement,
): StoreField {
  const isCommon = field === "metadata.name" || field === "metadata.namespace";
  if (!isCommon && !resource.fieldLabels.includes(field)) throw unknownField(resource, field);
  const name = `${resource.kind} ${field}`;
  const path = Object.hasOwn(paths, name) ? (paths[name] ?? []) : field.split(".");
  const isEqual = operator === "=";
  // A flag that is off and a number that is zero are not written.
  if (flags.has(name)) {
    const wantsTrue = (value === "true") === isEqual;
    return { path, operator: wantsTrue ? "Equals" : "NotEquals", value: "true" };
  }
  if (counts.has(name) && value === "0") {
    return { path, operator: isEqual ? "Equals" : "NotEquals", value: "" };
  }
  return { path, operator: isEqual ? "Equals" : "NotEquals", value };
}

function unknownField(resource: Resource, field: string): Error {
  if (resource.isCustom) return failures.badRequest(`field label not supported: ${field}`);
  if (resource.group === "resource.k8s.io" && resource.fieldLabels.length > 0) {
    const kind = `${resource.group}/${resource.version}, Kind=${resource.kind}`;
    return failures.badRequest(`field label not supported for ${kind}: ${field}`);
  }
  if (resource.kind === "Job") {
    return failures.badRequest(`field label ${quote(field)} not supported for Job`);
  }
  const known = ["metadata.name", "metadata.namespace"].map((one) => `"${one}"`).join(", ");
  return failures.badRequest(
    resource.fieldLabels.length === 0
      ? `${quote(field)} is not a known field selector: only ${known}`
      : `field label not supported: ${field}`,
  );
}

/** Labels that are not the paths they look like. */
const paths: Readonly<Record<string, readonly string[]>> = {
  "Event source": ["source", "component"],
  "Event reportingController": ["reportingComponent"],
  "Event regarding.kind": ["involvedObject", "kind"],
  "Event regarding.namespace": ["involvedObject", "namespace"],
  "Event regarding.name": ["involvedObject", "name"],
  "Event regarding.uid": ["involvedObject", "uid"],
  "Event regarding.apiVersion": ["involvedObject", "apiVersion"],
  "Event regarding.resourceVersion": ["involvedObject", "resourceVersion"],
  "Event regarding.fieldPath": ["involvedObject", "fieldPath"],
  "Namespace name": ["metadata", "name"],
};

const flags = new Set(["Node spec.unschedulable", "Pod spec.hostNetwork"]);
const counts = new Set([
  "Job status.successful",
  "ReplicaSet status.replicas",
  "ReplicationController status.replicas",
]);
