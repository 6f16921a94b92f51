// Which taints of nodes a Pod bears.

import type { JsonObject } from "@keelson/base";

import { has, textOf } from "../../../../object/members.ts";
import { labelKeyProblems, labelValueProblems } from "../../../../object/names.ts";
import { quote } from "../../../../go-text/quote.ts";
import { struct } from "../../../../go-text/struct-text.ts";
import { parseInteger } from "../../../../selectors/label-selector.ts";
import type { Place } from "../../place.ts";
import type { PodRuleOptions } from "./pod-options.ts";

const effects: readonly string[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/** A toleration as messages show it; those of devices have the same members. */
export const tolerationShape = struct(
  `Key key string
  Operator operator string
  Value value string
  Effect effect string
  TolerationSeconds tolerationSeconds *number`,
);

export function checkTolerations(
  tolerations: readonly JsonObject[],
  at: Place,
  options: PodRuleOptions,
): void {
  for (const [index, toleration] of tolerations.entries()) {
    checkToleration(toleration, at.item(index), options);
  }
}

/** Reports an effect that no taint has. */
export function checkEffect(effect: string, at: Place): void {
  if (!effects.includes(effect)) at.notSupported(effect, effects);
}

function checkToleration(toleration: JsonObject, at: Place, options: PodRuleOptions): void {
  const [key, operator] = [textOf(toleration, "key"), textOf(toleration, "operator")];
  const [value, effect] = [textOf(toleration, "value"), textOf(toleration, "effect")];
  if (key !== "") at.child("key").invalidEach(key, labelKeyProblems(key));
  if (key === "" && operator !== "Exists") {
    at.child("operator").invalidWord(
      operator,
      'operator must be Exists when `key` is empty, which means "match all values and all keys"',
    );
  }
  if (has(toleration, "tolerationSeconds") && effect !== "NoExecute") {
    at.child("effect").invalidWord(
      effect,
      "effect must be 'NoExecute' when `tolerationSeconds` is set",
    );
  }
  switch (operator) {
    case "Equal":
    case "": {
      const problems = labelValueProblems(value);
      if (problems.length > 0) at.child("operator").invalid(value, problems.join(";"));
      break;
    }
    case "Exists":
      if (value !== "") {
        at.child("operator").invalid(value, "value must be empty when `operator` is 'Exists'");
      }
      break;
    case "Lt":
    case "Gt":
      if (options.allowComparingTolerations) checkInteger(value, at.child("value"));
      else at.child("operator").notSupported(operator, ["Equal", "Exists", "Lt", "Gt"]);
      break;
    default:
      at.child("operator").notSupported(operator, ["Equal", "Exists"]);
  }
  if (effect !== "") checkEffect(effect, at.child("effect"));
}

function checkInteger(value: string, at: Place): void {
  if (value === "") at.invalid(value, "must be non-empty");
  else if (!/^(0|-?[1-9][0-9]*)$/.test(value)) {
    at.invalid(value, "must be a valid decimal integer in canonical form");
  }
  if (parseInteger(value) === undefined) {
    const why = /^[+-]?[0-9]+$/.test(value) ? "value out of range" : "invalid syntax";
    at.invalid(value, `strconv.ParseInt: parsing ${quote(value)}: ${why}`);
  }
}
