// How an autoscaler behaves, as an annotation of its first version has it: in the server's own names.

import { isJsonObject, type Json, type MutableJson, type MutableJsonObject } from "@keelson/base";

import { goJson } from "../../go-text/go-json.ts";
import { memberOf } from "../../object/member.ts";
import { objectAt, objectsAt } from "../defaults/default-rule.ts";

/** The annotation for the behavior of a second version. */
export function behaviorText(behavior: MutableJsonObject): string {
  return `{"ScaleUp":${rulesText(objectAt(behavior, "scaleUp"))},"ScaleDown":${rulesText(objectAt(behavior, "scaleDown"))}}`;
}

function rulesText(rules: MutableJsonObject | undefined): string {
  if (rules === undefined) return "null";
  const policies = objectsAt(rules, "policies").map(
    ({ type = "", value = 0, periodSeconds = 0 }) =>
      `{"Type":${goJson(type)},"Value":${goJson(value)},"PeriodSeconds":${goJson(periodSeconds)}}`,
  );
  const text = (name: string): string => goJson(rules[name] ?? null);
  const list = rules["policies"] === undefined ? "null" : `[${policies.join(",")}]`;
  return `{"StabilizationWindowSeconds":${text("stabilizationWindowSeconds")},"SelectPolicy":${text("selectPolicy")},"Policies":${list},"Tolerance":${text("tolerance")}}`;
}

/** The behavior of a second version for the annotation's value; undefined if it says nothing. */
export function behaviorFrom(value: Json): MutableJsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const behavior: MutableJsonObject = {};
  for (const [inner, outer] of [
    ["ScaleUp", "scaleUp"],
    ["ScaleDown", "scaleDown"],
  ] as const) {
    const rules = memberOf(value, inner);
    if (isJsonObject(rules)) behavior[outer] = renamed(rules as MutableJsonObject);
  }
  return Object.keys(behavior).length === 0 ? undefined : behavior;
}

/** Names with a small letter at the beginning, all the way down. */
function renamed(value: MutableJsonObject): MutableJsonObject {
  const inner = (member: MutableJson): MutableJson => {
    if (Array.isArray(member)) return member.map(inner);
    return isJsonObject(member) ? renamed(member) : member;
  };
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.slice(0, 1).toLowerCase() + name.slice(1),
      inner(member),
    ]),
  );
}
