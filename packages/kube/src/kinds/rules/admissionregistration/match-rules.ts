// Which requests an admission plugin sees.

import type { JsonObject } from "@keelson/base";

import { trimSpace } from "../../../go-text/trim-space.ts";
import { maybeObject, maybeText, objectsOf, textOf, textsOf } from "../../../object/members.ts";
import { labelKeyProblems, pathSegmentProblems } from "../../../object/names.ts";
import { checkLabelSelector } from "../label-selectors.ts";
import { checkChoice } from "../meta/checks.ts";
import type { Place } from "../place.ts";

export const failurePolicies = ["Fail", "Ignore"];
export const matchPolicies = ["Equivalent", "Exact"];
export const reinvocationPolicies = ["IfNeeded", "Never"];
const operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const mutatingOperations = ["*", "CONNECT", "CREATE", "UPDATE"];
const scopes = ["*", "Cluster", "Namespaced"];
const conditionsMax = 64;

export function checkRule(rule: JsonObject, at: Place): void {
  const chosen = textsOf(rule, "operations");
  checkSomeOrAll(chosen, at.child("operations"), "operations");
  for (const [index, operation] of chosen.entries()) {
    const place = at.child("operations").item(index);
    checkChoice(operation, place, { of: operations, isNeeded: true });
  }
  checkSomeOrAll(textsOf(rule, "apiGroups"), at.child("apiGroups"), "API groups");
  const versions = textsOf(rule, "apiVersions");
  checkSomeOrAll(versions, at.child("apiVersions"), "API versions");
  for (const [index, version] of versions.entries()) {
    if (version === "") at.child("apiVersions").item(index).required();
  }
  checkResources(textsOf(rule, "resources"), at.child("resources"));
  checkChoice(maybeText(rule, "scope"), at.child("scope"), { of: scopes, isNeeded: false });
}

/** Reports an empty list, and one that has more than the word for all. */
function checkSomeOrAll(words: readonly string[], at: Place, plural: string): void {
  if (words.length === 0) at.required();
  if (words.length > 1 && words.includes("*")) {
    at.invalid(words, `if '*' is present, must not specify other ${plural}`);
  }
}

function checkResources(resources: readonly string[], at: Place): void {
  if (resources.length === 0) at.required();
  const allParts = new Set<string>();
  const ofAll = new Set<string>();
  let hasBare = false;
  for (const [index, resource] of resources.entries()) {
    if (resource === "") {
      at.item(index).required();
      continue;
    }
    const slash = resource.indexOf("/");
    if (slash < 0) {
      hasBare = resource !== "*"; // Of the last alone, as Go does.
      continue;
    }
    const [name, part] = [resource.slice(0, slash), resource.slice(slash + 1)];
    if (allParts.has(name)) {
      at.item(index).invalid(resource, `if '${name}/*' is present, must not specify ${resource}`);
    }
    if (ofAll.has(part)) {
      at.item(index).invalid(resource, `if '*/${part}' is present, must not specify ${resource}`);
    }
    if (part === "*") allParts.add(name);
    if (name === "*") ofAll.add(part);
  }
  if (resources.length > 1 && resources.includes("*/*")) {
    at.invalid(resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes("*") && hasBare) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    at.invalid(resources, detail);
  }
}

/** Reports what is wrong with the conditions of a match. Their expressions are not compiled. */
export function checkMatchConditions(conditions: readonly JsonObject[], at: Place): void {
  if (conditions.length > conditionsMax) at.tooMany(conditions.length, conditionsMax);
  const names = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const place = at.item(index);
    const name = textOf(condition, "name");
    if (trimSpace(textOf(condition, "expression")) === "") place.child("expression").required();
    if (name === "") place.child("name").required();
    else {
      place.child("name").invalidEach(name, labelKeyProblems(name));
      if (names.has(name)) place.child("name").duplicate(name);
      names.add(name);
    }
  }
}

/** Reports what is wrong with the resources that a policy is about. */
export function checkMatchResources(match: JsonObject, at: Place): void {
  const policy = maybeText(match, "matchPolicy");
  checkChoice(policy, at.child("matchPolicy"), { of: matchPolicies, isNeeded: true });
  for (const name of ["namespaceSelector", "objectSelector"]) {
    const selector = maybeObject(match, name);
    if (selector === undefined) at.child(name).required();
    else checkLabelSelector(selector, at.child(name));
  }
  for (const name of ["resourceRules", "excludeResourceRules"]) {
    for (const [index, rule] of objectsOf(match, name).entries()) {
      checkNamedRule(rule, at.child(name).item(index));
    }
  }
}

function checkNamedRule(rule: JsonObject, at: Place): void {
  const seen = new Set<string>();
  for (const [index, name] of textsOf(rule, "resourceNames").entries()) {
    const place = at.child("resourceNames").item(index);
    place.invalidEach(name, pathSegmentProblems(name));
    if (seen.has(name)) place.duplicate(name);
    seen.add(name);
  }
  checkRule(rule, at);
}

/** Reports operations after which there is nothing left to change. */
export function checkMutatingOperations(match: JsonObject, at: Place): void {
  for (const rule of objectsOf(match, "resourceRules")) {
    for (const operation of textsOf(rule, "operations")) {
      if (mutatingOperations.includes(operation)) continue;
      at.child("resourceRules").child("operations").notSupported(operation, mutatingOperations);
    }
  }
}
