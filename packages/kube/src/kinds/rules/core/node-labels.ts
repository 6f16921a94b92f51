// Labels of nodes that have been replaced by others.

import type { JsonObject } from "@keelson/base";

import { objectsOf, textOf, textsOf } from "../../../object/members.ts";
import { labelValueProblems } from "../../../object/names.ts";

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

/** What to use instead of a label. */
export function deprecatedLabel(key: string): string | undefined {
  return deprecated.get(key);
}

/** What to say of a term that chooses nodes. */
export function nodeTermWarnings(
  term: JsonObject,
  { path, checkValues }: { readonly path: string; readonly checkValues: boolean },
): readonly string[] {
  const warnings: string[] = [];
  for (const [index, expression] of objectsOf(term, "matchExpressions").entries()) {
    const key = textOf(expression, "key");
    const place = `${path}.matchExpressions[${index}]`;
    const instead = deprecatedLabel(key);
    if (instead !== undefined) warnings.push(`${place}.key: ${key} is ${instead}`);
    if (!checkValues) continue;
    for (const [position, value] of textsOf(expression, "values").entries()) {
      for (const problem of labelValueProblems(value)) {
        warnings.push(`${place}.values[${position}]: ${value} is invalid, ${problem}`);
      }
    }
  }
  return warnings;
}
