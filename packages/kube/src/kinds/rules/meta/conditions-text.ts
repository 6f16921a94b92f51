// Conditions of the common form as messages show them.

import type { JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { memberOf } from "../../../object/member.ts";
import { numberOf, textOf } from "../../../object/members.ts";

export function conditionsText(conditions: readonly JsonObject[]): string {
  if (conditions.length === 0) return "null";
  return `[${conditions.map(conditionText).join(",")}]`;
}

function conditionText(condition: JsonObject): string {
  const text = (name: string): string => `"${name}":${goJson(textOf(condition, name))}`;
  const generation = numberOf(condition, "observedGeneration");
  return `{${[
    text("type"),
    text("status"),
    ...(generation === 0 ? [] : [`"observedGeneration":${generation}`]),
    `"lastTransitionTime":${goJson(memberOf(condition, "lastTransitionTime") ?? null)}`,
    text("reason"),
    text("message"),
  ].join(",")}}`;
}
