// The rules of PodDisruptionBudgets.

import type { JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { memberOf } from "../../../object/member.ts";
import { has, maybeObject, maybeText, objectOf, objectsOf } from "../../../object/members.ts";
import { pathSegmentNames } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkIntOrPercent, checkNotMoreThanAll } from "../int-or-percent.ts";
import { checkLabelSelector, isInvalidSelector, showSelector } from "../label-selectors.ts";
import { checkConditions, checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

export const podDisruptionBudget: KindRules = {
  names: pathSegmentNames,
  takesBareFinalizers: true,
  validate: (object) => specErrors(objectOf(object, "spec"), { allowInvalidValues: false }),
  validateUpdate: (object, old) => {
    const allowInvalidValues = isInvalidSelector(maybeObject(objectOf(old, "spec"), "selector"));
    return specErrors(objectOf(object, "spec"), { allowInvalidValues });
  },
  validateStatusUpdate: (object) => {
    const at = Place.root("status");
    const status = objectOf(object, "status");
    checkConditions(objectsOf(status, "conditions"), at.child("conditions"));
    checkNotNegative(status, at, [
      "disruptionsAllowed",
      "currentHealthy",
      "desiredHealthy",
      "expectedPods",
    ]);
    return at.errors;
  },
};

function specErrors(
  spec: JsonObject,
  options: { readonly allowInvalidValues: boolean },
): readonly FieldError[] {
  const at = Place.root("spec");
  if (has(spec, "minAvailable") && has(spec, "maxUnavailable")) {
    at.invalidShown(specText(spec), "minAvailable and maxUnavailable cannot be both set");
  }
  for (const name of ["minAvailable", "maxUnavailable"]) {
    checkIntOrPercent(spec, at, name);
    checkNotMoreThanAll(spec, at, name);
  }
  checkLabelSelector(maybeObject(spec, "selector"), at.child("selector"), options);
  const policy = maybeText(spec, "unhealthyPodEvictionPolicy");
  if (policy !== undefined && !evictionPolicies.includes(policy)) {
    at.child("unhealthyPodEvictionPolicy").notSupported(policy, evictionPolicies);
  }
  return at.errors;
}

/** The spec as the message shows it: by the names of the real server's own fields. */
function specText(spec: JsonObject): string {
  const show = (name: string): string => goJson(memberOf(spec, name) ?? null);
  return `{"MinAvailable":${show("minAvailable")},"Selector":${showSelector(maybeObject(spec, "selector"))},"MaxUnavailable":${show("maxUnavailable")},"UnhealthyPodEvictionPolicy":${show("unhealthyPodEvictionPolicy")}}`;
}
