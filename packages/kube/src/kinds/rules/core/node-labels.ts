// Labels of nodes that have been replaced by others.

import type { JsonObject } from "@keelson/base";

import { objectsOf, textOf, textsOf } from "../../../object/members.ts";
import { labelValueProblems } from "../../../object/names.ts";

/** Labels of a beta: since when they are deprecated, and what they are called since. */
const renamed: ReadonlyMap<string, readonly [since: string, stable: string]> = new Map([
  ["beta.kubernetes.io/arch", ["v1.14", "kubernetes.io/arch"]],
  ["beta.kubernetes.io/os", ["v1.14", "kubernetes.io/os"]],
  ["failure-domain.beta.kubernetes.io/region", ["v1.17", "topology.kubernetes.io/region"]],
  ["failure-domain.beta.kubernetes.io/zone", ["v1.17", "topology.kubernetes.io/zone"]],
  ["beta.kubernetes.io/instance-type", ["v1.17", "node.kubernetes.io/instance-type"]],
]);

const deprecated: ReadonlyMap<string, string> = new Map([
  ...Array.from(
    renamed,
    ([key, [since, stable]]) =>
      [key, `deprecated since ${since}; use "${stable}" instead`] as const,
  ),
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  [
    "scheduler.alpha.kubernetes.io/preferAvoidPods",
    "deprecated since v1.22; use Taints and Tolerations instead",
  ],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** What a label of a beta is called since. */
export function stableLabel(key: string): string | undefined {
  return renamed.get(key)?.[1];
}

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
