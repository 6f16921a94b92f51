import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  listOf,
  maybeObject,
  objectOf,
  objectsOf,
  sortedKeys,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkAmount, compareAmounts, showAmount } from "../amounts.ts";
import { showInternal } from "../internal-form.ts";
import { Place } from "../place.ts";
import { checkResourceName, isQuotaResource } from "../resource-names.ts";

export const resourceQuotaRules: KindRules = {
  validate: (quota) => {
    const at = Place.root("spec");
    checkSpec(objectOf(quota, "spec"), at);
    return at.errors;
  },
  validateUpdate: (quota, old) => {
    const at = Place.root("spec");
    const spec = objectOf(quota, "spec");
    checkSpec(spec, at);
    const [scopes, before] = [spec, objectOf(old, "spec")].map((own) => textsOf(own, "scopes"));
    if (
      scopes !== undefined &&
      before !== undefined &&
      new Set(scopes).symmetricDifference(new Set(before)).size > 0
    ) {
      at.child("scopes").invalid(scopes.length === 0 ? null : scopes, "field is immutable");
    }
    return at.errors;
  },
  validateStatusUpdate: (quota) => {
    const at = Place.root("status");
    for (const name of ["hard", "used"]) {
      checkAmounts(objectOf(objectOf(quota, "status"), name), at.child(name));
    }
    return at.errors;
  },
  warnings: (quota, old) => (old === undefined ? createWarnings(quota) : []),
};

const standardScopes: readonly string[] = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "VolumeAttributesClass",
  "CrossNamespacePodAffinity",
];

const computeResources: readonly string[] = [
  "pods",
  "cpu",
  "memory",
  "limits.cpu",
  "limits.memory",
  "requests.cpu",
  "requests.memory",
];

function checkAmounts(amounts: JsonObject, at: Place): void {
  for (const name of sortedKeys(amounts)) {
    checkResourceName(name, at.key(name));
    if (!name.includes("/") && !isQuotaResource(name)) {
      at.key(name).invalidWord(name, "must be a standard resource for quota");
    }
    checkAmount(memberOf(amounts, name) ?? "0", at.key(name), { resource: name });
  }
}

function checkSpec(spec: JsonObject, at: Place): void {
  checkAmounts(objectOf(spec, "hard"), at.child("hard"));
  const hard = sortedKeys(objectOf(spec, "hard"));
  const scopes = textsOf(spec, "scopes");
  const place = at.child("scopes");
  const misfits = countMisfits(hard);
  for (const scope of scopes) {
    if (!standardScopes.includes(scope)) place.invalid(scopes, "unsupported scope");
    for (let n = misfits(scope); n > 0 && !place.isFull; n--) {
      place.invalid(scopes, "unsupported scope applied to resource");
    }
  }
  for (const _ of conflicts(scopes)) at.child("scopes").invalid(scopes, "conflicting scopes");
  const selector = maybeObject(spec, "scopeSelector");
  if (selector !== undefined) checkSelector(spec, at.child("scopeSelector"), selector);
}

/** How many of the resources a scope cannot have; counted once for each scope. */
function countMisfits(resources: readonly string[]): (scope: string) => number {
  const counted = resources.filter((resource) => isQuotaResource(resource));
  const counts = new Map(
    standardScopes.map((scope) => [
      scope,
      counted.filter((resource) => !isValidFor(scope, resource)).length,
    ]),
  );
  return (scope) => counts.get(scope) ?? 0;
}

function isValidFor(scope: string, resource: string): boolean {
  switch (scope) {
    case "Terminating":
    case "NotTerminating":
    case "NotBestEffort":
    case "PriorityClass":
    case "CrossNamespacePodAffinity":
      return computeResources.includes(resource);
    case "BestEffort":
      return resource === "pods";
    case "VolumeAttributesClass":
      return resource === "persistentvolumeclaims" || resource === "requests.storage";
    default:
      return true;
  }
}

function conflicts(scopes: readonly string[]): readonly string[] {
  return ["BestEffort", "Terminating"].filter(
    (scope) => scopes.includes(scope) && scopes.includes(`Not${scope}`),
  );
}

const scopesThatOnlyExist: readonly string[] = [
  "BestEffort",
  "NotBestEffort",
  "Terminating",
  "NotTerminating",
  "CrossNamespacePodAffinity",
];

function checkSelector(spec: JsonObject, at: Place, selector: JsonObject): void {
  const place = at.child("matchExpressions");
  const expressions = objectsOf(selector, "matchExpressions");
  const misfits = countMisfits(Object.keys(objectOf(spec, "hard")));
  let shown: string | undefined;
  for (const expression of expressions) {
    const [scope, operator] = [textOf(expression, "scopeName"), textOf(expression, "operator")];
    if (!standardScopes.includes(scope)) {
      place.child("scopeName").invalidWord(scope, "unsupported scope");
    }
    for (let n = misfits(scope); n > 0 && !place.isFull; n--) {
      shown ??= showInternal("core.ScopeSelector", selector);
      place.invalidShown(shown, "unsupported scope applied to resource");
    }
    if (scopesThatOnlyExist.includes(scope) && operator !== "Exists") {
      place
        .child("operator")
        .invalid(
          operator,
          "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
        );
    }
    checkOperator(expression, place);
  }
  const scopes = expressions.map((expression) => textOf(expression, "scopeName"));
  const listed = textsOf(spec, "scopes");
  for (const _ of conflicts(scopes)) {
    place.invalid(listed.length === 0 ? null : listed, "conflicting scopes");
  }
}

function checkOperator(expression: JsonObject, at: Place): void {
  const operator = textOf(expression, "operator");
  const values = listOf(expression, "values");
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        at.child("values").required(
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
        );
      }
      return;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        at.child("values").invalid(
          values,
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        );
      }
      return;
    default:
      at.child("operator").invalidWord(operator, "not a valid selector operator");
  }
}

function createWarnings(quota: JsonObject): readonly string[] {
  const hard = objectOf(objectOf(quota, "spec"), "hard");
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((resource) => {
    const names = [
      `requests.${resource}`,
      ...(["cpu", "memory"].includes(resource) ? [resource] : []),
    ];
    const name = names.find((own) => Object.hasOwn(hard, own));
    const limitName = `limits.${resource}`;
    const limit = memberOf(hard, limitName);
    const request = name === undefined ? undefined : memberOf(hard, name);
    if (request === undefined || limit === undefined || compareAmounts(request, limit) <= 0)
      return [];
    return [
      `ResourceQuota ${name} (${showAmount(request)}) should be less than ${limitName} (${showAmount(limit)})`,
    ];
  });
}
