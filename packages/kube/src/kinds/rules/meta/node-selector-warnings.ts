// What to say of labels in a selector of nodes.

import type { JsonObject } from "@keelson/base";

import { objectOf, objectsOf, textOf } from "../../../object/members.ts";
import { deprecatedLabel } from "../core/node-labels.ts";

export function nodeSelectorWarnings(selector: JsonObject | undefined, path: string): string[] {
  if (selector === undefined) return [];
  const inExpressions = objectsOf(selector, "matchExpressions").flatMap((expression, index) => {
    const key = textOf(expression, "key");
    const said = deprecatedLabel(key);
    return said === undefined ? [] : [`${path}.matchExpressions[${index}].key: ${key} is ${said}`];
  });
  const inLabels = Object.keys(objectOf(selector, "matchLabels")).flatMap((label) => {
    const said = deprecatedLabel(label);
    return said === undefined ? [] : [`${path}.matchLabels.${label}: ${said}`];
  });
  return [...inExpressions, ...inLabels];
}
