// How Pods are spread over zones and nodes.

import type { JsonObject } from "@keelson/base";

import {
  maybeNumber,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../../object/members.ts";
import { labelKeyProblems } from "../../../../object/names.ts";
import { checkLabelSelector } from "../../label-selectors.ts";
import type { Place } from "../../place.ts";
import { checkMatchLabelKeys } from "./affinity.ts";
import type { PodRuleOptions } from "./pod-options.ts";

const actions: readonly string[] = ["DoNotSchedule", "ScheduleAnyway"];
const policies: readonly string[] = ["Honor", "Ignore"];

export function checkTopologySpread(spec: JsonObject, at: Place, options: PodRuleOptions): void {
  const constraints = objectsOf(spec, "topologySpreadConstraints");
  const pairOf = (constraint: JsonObject): string =>
    JSON.stringify([textOf(constraint, "topologyKey"), textOf(constraint, "whenUnsatisfiable")]);
  const last = new Map(constraints.map((constraint, index) => [pairOf(constraint), index]));
  for (const [index, constraint] of constraints.entries()) {
    const place = at.item(index);
    checkPositive(numberOf(constraint, "maxSkew"), place.child("maxSkew"));
    const [key, action] = [
      textOf(constraint, "topologyKey"),
      textOf(constraint, "whenUnsatisfiable"),
    ];
    if (key === "") place.child("topologyKey").required("can not be empty");
    if (!actions.includes(action)) place.child("whenUnsatisfiable").notSupported(action, actions);
    if ((last.get(pairOf(constraint)) ?? index) > index) {
      place.child("{topologyKey, whenUnsatisfiable}").duplicate(`{${key}, ${action}}`);
    }
    checkMinDomains(constraint, place.child("minDomains"), action);
    for (const name of ["nodeAffinityPolicy", "nodeTaintsPolicy"]) {
      const policy = maybeText(constraint, name);
      if (policy !== undefined && !policies.includes(policy)) {
        place.child(name).notSupported(policy, policies);
      }
    }
    if (options.allowOldMatchLabelKeys)
      checkOldLabelKeys(constraint, place.child("matchLabelKeys"));
    else checkMatchLabelKeys(constraint, place);
    if (!options.allowInvalidSpreadSelector) {
      checkLabelSelector(maybeObject(constraint, "labelSelector"), place.child("labelSelector"));
    }
  }
}

/** Reports keys that the selector has already, as it was judged before selectors were completed with these keys. */
function checkOldLabelKeys(constraint: JsonObject, at: Place): void {
  const keys = textsOf(constraint, "matchLabelKeys");
  if (keys.length === 0) return;
  const selector = maybeObject(constraint, "labelSelector");
  if (selector === undefined) at.forbidden("must not be specified when labelSelector is not set");
  const selected = new Set([
    ...Object.keys(objectOf(selector ?? {}, "matchLabels")),
    ...objectsOf(selector ?? {}, "matchExpressions").map((expression) => textOf(expression, "key")),
  ]);
  for (const [index, key] of keys.entries()) {
    at.item(index).invalidEach(key, labelKeyProblems(key));
    if (selected.has(key)) {
      at.item(index).invalid(key, "exists in both matchLabelKeys and labelSelector");
    }
  }
}

function checkMinDomains(constraint: JsonObject, at: Place, action: string): void {
  const domains = maybeNumber(constraint, "minDomains");
  if (domains === undefined) return;
  checkPositive(domains, at);
  if (action !== "DoNotSchedule") {
    at.invalid(
      domains,
      `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`,
    );
  }
}

function checkPositive(value: number, at: Place): void {
  if (value <= 0) at.invalid(value, "must be greater than zero");
}
