// The rules of HorizontalPodAutoscalers and of scales.

import type { Json, JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  has,
  maybeNumber,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from "../../../object/members.ts";
import { pathSegmentProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { showAmount, signOf } from "../amounts.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { checkMetric } from "./metric-rules.ts";

const selectPolicies = ["Disabled", "Max", "Min"];
const policyTypes = ["Percent", "Pods"];
const periodSecondsMax = 1800;
const windowSecondsMax = 3600;

export const horizontalPodAutoscaler: KindRules = {
  validate: (object) => specErrors(object, undefined),
  validateUpdate: specErrors,
  validateStatusUpdate: (object) => {
    const at = Place.root("status");
    const status = objectOf(object, "status");
    checkNotNegative(status, at, ["currentReplicas", "desiredReplicas"]);
    return at.errors;
  },
};

export const scale: KindRules = {
  validate: (object) => {
    const at = Place.root("spec");
    checkNotNegative(objectOf(object, "spec"), at, ["replicas"]);
    return at.errors;
  },
};

function specErrors(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  const before = old === undefined ? undefined : objectOf(old, "spec");
  const min = maybeNumber(spec, "minReplicas");
  const max = numberOf(spec, "maxReplicas");
  // Scaling to zero is off, as by default; who is there already may stay.
  const lowest = before !== undefined && maybeNumber(before, "minReplicas") === 0 ? 0 : 1;
  if (min !== undefined && min < lowest) {
    at.child("minReplicas").invalid(min, `must be greater than or equal to ${lowest}`);
  }
  if (max === 0) at.child("maxReplicas").required("must be set and greater than 0");
  else if (max < 0) at.child("maxReplicas").invalid(max, "must be greater than or equal to 1");
  if (min !== undefined && max < min) {
    at.child("maxReplicas").invalid(max, "must be greater than or equal to `minReplicas`");
  }
  const target = objectOf(spec, "scaleTargetRef");
  const place = at.child("scaleTargetRef");
  checkReference(target, place);
  const isSameTarget =
    before !== undefined &&
    ["apiVersion", "kind"].every(
      (name) => textOf(target, name) === textOf(objectOf(before, "scaleTargetRef"), name),
    );
  const mayLackGroup = textOf(target, "kind") === "ReplicationController";
  if (!isSameTarget) checkApiVersion(textOf(target, "apiVersion"), place, { mayLackGroup });
  checkMetrics(object, at.child("metrics"), { min, isChecked: !hadBadVersion(old) });
  const behavior = maybeObject(spec, "behavior");
  for (const name of ["scaleUp", "scaleDown"]) {
    const rules = behavior === undefined ? undefined : maybeObject(behavior, name);
    if (rules !== undefined) checkScaling(rules, at.child("behavior").child(name));
  }
  return at.errors;
}

/** Metrics as the newer version has them: the older one has a single number for the processor. */
function metricsOf(object: JsonObject): readonly JsonObject[] {
  const spec = objectOf(object, "spec");
  if (textOf(object, "apiVersion") !== "autoscaling/v1") return objectsOf(spec, "metrics");
  const averageUtilization = maybeNumber(spec, "targetCPUUtilizationPercentage");
  if (averageUtilization === undefined) return [];
  const target: Json = { type: "Utilization", averageUtilization };
  return [{ type: "Resource", resource: { name: "cpu", target } }];
}

function checkMetrics(
  object: JsonObject,
  at: Place,
  { min, isChecked }: { readonly min: number | undefined; readonly isChecked: boolean },
): void {
  const metrics = metricsOf(object);
  for (const [index, metric] of metrics.entries()) {
    checkMetric(metric, at.item(index), (described, place) => {
      checkReference(described, place);
      if (!isChecked) return;
      checkApiVersion(textOf(described, "apiVersion"), place, { mayLackGroup: true });
    });
  }
  const types = metrics.map((metric) => textOf(metric, "type"));
  if (min === 0 && !types.includes("Object") && !types.includes("External")) {
    at.forbidden(
      "must specify at least one Object or External metric to support scaling to zero replicas",
    );
  }
}

/** Whether an object that is measured already had a version that is none: then no other is judged. */
function hadBadVersion(old: JsonObject | undefined): boolean {
  const metrics = old === undefined ? [] : metricsOf(old);
  return metrics.some((metric) => {
    const measured = maybeObject(metric, "object");
    if (textOf(metric, "type") !== "Object" || measured === undefined) return false;
    const apiVersion = textOf(objectOf(measured, "describedObject"), "apiVersion");
    return versionProblem(apiVersion, { mayLackGroup: true }) !== undefined;
  });
}

function checkReference(reference: JsonObject, at: Place): void {
  for (const name of ["kind", "name"]) {
    const value = textOf(reference, name);
    if (value === "") at.child(name).required();
    else at.child(name).invalidEach(value, pathSegmentProblems(value));
  }
}

function checkApiVersion(
  apiVersion: string,
  at: Place,
  options: { readonly mayLackGroup: boolean },
): void {
  const problem = versionProblem(apiVersion, options);
  if (problem !== undefined) at.child("apiVersion").invalid(apiVersion, problem);
}

function versionProblem(
  apiVersion: string,
  { mayLackGroup }: { readonly mayLackGroup: boolean },
): string | undefined {
  if (apiVersion.split("/").length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const hasGroup = apiVersion.indexOf("/") > 0;
  return hasGroup || mayLackGroup ? undefined : "apiVersion must specify API group";
}

function checkScaling(rules: JsonObject, at: Place): void {
  const seconds = maybeNumber(rules, "stabilizationWindowSeconds");
  const window = at.child("stabilizationWindowSeconds");
  if (seconds !== undefined && seconds < 0) {
    window.invalid(seconds, "must be greater than or equal to zero");
  }
  if (seconds !== undefined && seconds > windowSecondsMax) {
    window.invalid(seconds, `must be less than or equal to ${windowSecondsMax}`);
  }
  const select = maybeText(rules, "selectPolicy");
  if (select !== undefined && !selectPolicies.includes(select)) {
    at.child("selectPolicy").notSupported(select, selectPolicies);
  }
  const policies = objectsOf(rules, "policies");
  if (policies.length === 0) at.child("policies").required("must specify at least one Policy");
  for (const [index, policy] of policies.entries()) {
    checkPolicy(policy, at.child("policies").item(index));
  }
  const tolerance = memberOf(rules, "tolerance") ?? null;
  if (has(rules, "tolerance") && signOf(tolerance) < 0) {
    at.child("tolerance").invalid(showAmount(tolerance), "must be greater than or equal to 0");
  }
}

function checkPolicy(policy: JsonObject, at: Place): void {
  const type = textOf(policy, "type");
  if (!policyTypes.includes(type)) at.child("type").notSupported(type, policyTypes);
  const [value, period] = [numberOf(policy, "value"), numberOf(policy, "periodSeconds")];
  if (value <= 0) at.child("value").invalid(value, "must be greater than zero");
  if (period <= 0) at.child("periodSeconds").invalid(period, "must be greater than zero");
  if (period > periodSecondsMax) {
    at.child("periodSeconds").invalid(period, `must be less than or equal to ${periodSecondsMax}`);
  }
}
