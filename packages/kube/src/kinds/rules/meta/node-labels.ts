// Labels of nodes that have been replaced by others.

import type { JsonObject } from "@keelson/base";

import { objectOf, objectsOf, textOf } from "../members.ts";

const deprecated: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    "failure-domain.beta.kubernetes.io/region",
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    "failure-domain.beta.kubernetes.io/zone",
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    "beta.kubernetes.io/instance-type",
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  [
    "scheduler.alpha.kubernetes.io/preferAvoidPods",
    "deprecated since v1.22; use Taints and Tolerations instead",
  ],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** What to say of a label; nothing if it is all right. */
export function deprecatedNodeLabel(key: string): string | undefined {
  return deprecated.get(key);
}

/** What to say of the labels in a selector of nodes. */
export function selectorWarnings(selector: JsonObject | undefined, path: string): string[] {
  if (selector === undefined) return [];
  const inExpressions = objectsOf(selector, "matchExpressions").flatMap((expression, index) => {
    const key = textOf(expression, "key");
    const said = deprecatedNodeLabel(key);
    return said === undefined ? [] : [`${path}.matchExpressions[${index}].key: ${key} is ${said}`];
  });
  const inLabels = Object.keys(objectOf(selector, "matchLabels")).flatMap((label) => {
    const said = deprecatedNodeLabel(label);
    return said === undefined ? [] : [`${path}.matchLabels.${label}: ${said}`];
  });
  return [...inExpressions, ...inLabels];
}
