// The `LabelSelector` of specs: `matchLabels` and `matchExpressions`.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { quote } from "../go-text/quote.ts";
import { memberOf } from "../object/member.ts";
import {
  sortRequirements,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
} from "./label-selector.ts";
import { BadSelector, labelRequirement } from "./requirement.ts";

/**
 * The selector of a `LabelSelector` object. None at all chooses nothing, which is undefined; an empty one chooses
 * everything. Throws a `BadSelector`.
 */
export function selectorFromObject(
  object: JsonObject | null | undefined,
): LabelSelector | undefined {
  if (object === undefined || object === null) return undefined;
  const requirements: LabelRequirement[] = [];
  const labels = memberOf(object, "matchLabels");
  if (isJsonObject(labels)) {
    for (const [key, value] of Object.entries<Json>(labels)) {
      requirements.push(labelRequirement(key, "=", [typeof value === "string" ? value : ""]));
    }
  }
  const expressions = memberOf(object, "matchExpressions");
  if (isJsonArray(expressions)) {
    for (const expression of expressions) {
      if (isJsonObject(expression)) requirements.push(requirementOf(expression));
    }
  }
  return sortRequirements(requirements);
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

function requirementOf(expression: JsonObject): LabelRequirement {
  const text = (name: string): string => {
    const value = memberOf(expression, name);
    return typeof value === "string" ? value : "";
  };
  const operator = operators.get(text("operator"));
  if (operator === undefined) {
    throw new BadSelector(`${quote(text("operator"))} is not a valid label selector operator`);
  }
  const values = memberOf(expression, "values");
  const texts = isJsonArray(values) ? values.filter((value) => typeof value === "string") : [];
  return labelRequirement(text("key"), operator, texts);
}
