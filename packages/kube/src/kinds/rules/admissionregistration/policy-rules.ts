// The rules of admission policies and their bindings. Expressions must be there; they are not compiled.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { goLowerCase } from "../../../go-text/lower-case.ts";
import { printShape, struct } from "../../../go-text/struct-text.ts";
import { trimSpace } from "../../../go-text/trim-space.ts";
import { JsonPathError, parseSteps } from "../../../jsonpath/parse.ts";
import { memberOf } from "../../../object/member.ts";
import {
  listOf,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  pathSegmentProblems,
} from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkLabelSelector } from "../label-selectors.ts";
import { checkChoice, checkConditions, isSame } from "../meta/checks.ts";
import { Place } from "../place.ts";
import {
  checkMatchConditions,
  checkMatchResources,
  checkMutatingOperations,
  failurePolicies,
  reinvocationPolicies,
} from "./match-rules.ts";
import { staticNameWarnings } from "./static-name.ts";

const annotationsMax = 20;
const annotationBytesMax = 5 * 1024;
const reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const actions = ["Audit", "Deny", "Warn"];

export const validatingAdmissionPolicy: KindRules = {
  takesBareFinalizers: true,
  validate: (object) => validatingErrors(object, undefined),
  validateUpdate: validatingErrors,
  validateStatusUpdate: (object) => {
    const at = Place.root("status");
    const status = objectOf(object, "status");
    const warnings = objectsOf(objectOf(status, "typeChecking"), "expressionWarnings");
    for (const [index, warning] of warnings.entries()) {
      const place = at.child("typeChecking").child("expressionWarnings").item(index);
      if (textOf(warning, "warning") === "") place.child("warning").required();
      checkFieldRef(trimSpace(textOf(warning, "fieldRef")), place.child("fieldRef"));
    }
    checkConditions(objectsOf(status, "conditions"), at.child("conditions"));
    return at.errors;
  },
  warnings: staticNameWarnings,
};

export const mutatingAdmissionPolicy: KindRules = {
  takesBareFinalizers: true,
  validate: (object) => mutatingErrors(object, undefined),
  validateUpdate: mutatingErrors,
  warnings: staticNameWarnings,
};

export const validatingAdmissionPolicyBinding: KindRules = {
  takesBareFinalizers: true,
  validate: (object) => {
    const at = Place.root("spec");
    const spec = objectOf(object, "spec");
    checkBinding(spec, at);
    checkActions(textsOf(spec, "validationActions"), at.child("validationActions"));
    return at.errors;
  },
  warnings: staticNameWarnings,
};

export const mutatingAdmissionPolicyBinding: KindRules = {
  takesBareFinalizers: true,
  validate: (object) => {
    const at = Place.root("spec");
    const spec = objectOf(object, "spec");
    checkBinding(spec, at);
    checkMutatingOperations(objectOf(spec, "matchResources"), at.child("matchResources"));
    return at.errors;
  },
  warnings: staticNameWarnings,
};

/** Reports what is no path into the policy. */
function checkFieldRef(path: string, at: Place): void {
  if (path === "") {
    at.required();
    return;
  }
  try {
    parseSteps(path);
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    at.invalid(path, `invalid JSONPath: ${error.message}`);
  }
}

function validatingErrors(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  checkTarget(spec, at, old);
  checkVariables(objectsOf(spec, "variables"), at.child("variables"));
  const validations = objectsOf(spec, "validations");
  const annotations = objectsOf(spec, "auditAnnotations");
  if (validations.length === 0 && annotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    at.child("validations").required(detail);
    at.child("auditAnnotations").required(detail);
  }
  for (const [index, validation] of validations.entries()) {
    checkValidation(validation, at.child("validations").item(index));
  }
  const name = textOf(objectOf(object, "metadata"), "name");
  checkAnnotations(annotations, at.child("auditAnnotations"), name);
  return at.errors;
}

function mutatingErrors(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  checkTarget(spec, at, old, checkMutatingOperations);
  checkVariables(objectsOf(spec, "variables"), at.child("variables"));
  const mutations = objectsOf(spec, "mutations");
  if (mutations.length === 0) {
    at.child("mutations").required("mutations must contain at least one item");
  }
  for (const [index, mutation] of mutations.entries()) {
    checkMutation(mutation, at.child("mutations").item(index));
  }
  const policy = textOf(spec, "reinvocationPolicy");
  const place = at.child("reinvocationPolicy");
  if (policy === "") place.required();
  else if (!reinvocationPolicies.includes(policy)) {
    place.notSupported(policy, reinvocationPolicies);
  }
  return at.errors;
}

/** What both kinds of policies have alike. */
function checkTarget(
  spec: JsonObject,
  at: Place,
  old: JsonObject | undefined,
  checkMore: (match: JsonObject, at: Place) => void = () => undefined,
): void {
  const policy = maybeText(spec, "failurePolicy");
  checkChoice(policy, at.child("failurePolicy"), { of: failurePolicies, isNeeded: true });
  const parameters = maybeObject(spec, "paramKind");
  if (parameters !== undefined) checkParamKind(parameters, at.child("paramKind"));
  const match = maybeObject(spec, "matchConstraints");
  const place = at.child("matchConstraints");
  if (match === undefined) place.required();
  else {
    checkMatchResources(match, place);
    if (listOf(match, "resourceRules").length === 0) place.child("resourceRules").required();
    checkMore(match, place);
  }
  if (old !== undefined && hasSameConditions(spec, objectOf(old, "spec"))) return;
  checkMatchConditions(objectsOf(spec, "matchConditions"), at.child("matchConditions"));
}

function hasSameConditions(spec: JsonObject, old: JsonObject): boolean {
  return ["paramKind", "matchConditions"].every((name) =>
    isSame(memberOf(spec, name), memberOf(old, name)),
  );
}

function checkParamKind(parameters: JsonObject, at: Place): void {
  const [apiVersion, kind] = [textOf(parameters, "apiVersion"), textOf(parameters, "kind")];
  const place = at.child("apiVersion");
  const parts = apiVersion === "/" ? [""] : apiVersion.split("/");
  if (apiVersion === "") place.required();
  else if (parts.length > 2) {
    place.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  } else {
    const group = parts.length === 2 ? (parts[0] ?? "") : "";
    const version = parts.at(-1) ?? "";
    const say = (value: string, problems: readonly string[]): void => {
      if (problems.length > 0) place.invalid(value, problems.join(","));
    };
    if (group !== "") say(group, dnsSubdomainProblems(group));
    if (version === "") place.invalid(apiVersion, "version must be specified");
    else say(version, dns1035LabelProblems(version));
  }
  const problems = kind === "" ? [] : dns1035LabelProblems(goLowerCase(kind));
  if (kind === "") at.child("kind").required();
  else if (problems.length > 0) {
    const detail = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
    at.child("kind").invalid(kind, detail);
  }
}

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

function checkVariables(variables: readonly JsonObject[], at: Place): void {
  for (const [index, variable] of variables.entries()) {
    const place = at.item(index);
    const name = textOf(variable, "name");
    if (trimSpace(name) === "") place.child("name").required("name is not specified");
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reserved.has(name)) {
      place.child("name").invalid(name, "must be a valid CEL identifier");
    }
    if (trimSpace(textOf(variable, "expression")) === "") {
      place.child("expression").required("expression is not specified");
    }
  }
}

function checkValidation(validation: JsonObject, at: Place): void {
  if (trimSpace(textOf(validation, "expression")) === "") {
    at.child("expression").required("expression is not specified");
  }
  const [said, message] = [textOf(validation, "messageExpression"), textOf(validation, "message")];
  if (said !== "" && trimSpace(said) === "") {
    at.child("messageExpression").invalid(said, "must be non-empty if specified");
  }
  if (message !== "" && trimSpace(message) === "") {
    at.child("message").invalid(message, "must be non-empty if specified");
  } else if (/[\n\r]/.test(trimSpace(message))) {
    at.child("message").invalid(message, "must not contain line breaks");
  }
  const reason = maybeText(validation, "reason");
  if (reason !== undefined && !reasons.includes(reason)) {
    at.child("reason").notSupported(reason, reasons);
  }
}

const annotationShape = struct("Key key string\nValueExpression valueExpression string");

function checkAnnotations(annotations: readonly JsonObject[], at: Place, name: string): void {
  if (annotations.length > annotationsMax) {
    const shown = printShape({ list: annotationShape }, annotations);
    at.invalidShown(shown, `must not have more than ${annotationsMax} auditAnnotations`);
  }
  const keys = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const place = at.item(index);
    const key = textOf(annotation, "key");
    if (name === "") place.child("key").invalid(key, "requires metadata.name be non-empty");
    else {
      const full = `${name}/${key}`;
      place.child("key").invalidEach(full, labelKeyProblems(full));
    }
    const expression = trimSpace(textOf(annotation, "valueExpression"));
    if (expression === "") {
      place.child("valueExpression").required("valueExpression is not specified");
    } else if (byteLength(expression) > annotationBytesMax) {
      const detail = `must not exceed ${annotationBytesMax} bytes in length`;
      place.child("valueExpression").required(detail);
    }
    if (keys.has(key)) place.child("key").duplicate(key);
    keys.add(key);
  }
}

const patches = {
  ApplyConfiguration: ["applyConfiguration", "jsonPatch"],
  JSONPatch: ["jsonPatch", "applyConfiguration"],
} as const;

function checkMutation(mutation: JsonObject, at: Place): void {
  const type = textOf(mutation, "patchType");
  if (type === "") {
    at.child("patchType").required();
    return;
  }
  if (type !== "ApplyConfiguration" && type !== "JSONPatch") {
    at.child("patchType").notSupported(type, Object.keys(patches));
    return;
  }
  const [own, other] = patches[type];
  const patch = maybeObject(mutation, own);
  if (patch === undefined) at.child(own).required(`must be specified when patchType is ${type}`);
  else if (trimSpace(textOf(patch, "expression")) === "") {
    at.child(own).child("expression").required();
  }
  if (maybeObject(mutation, other) !== undefined) {
    const detail = `must not be specified when patchType is ${type}`;
    at.child(other).invalid(`{${other}}`, detail);
  }
}

function checkBinding(spec: JsonObject, at: Place): void {
  const policy = textOf(spec, "policyName");
  if (policy === "") at.child("policyName").required();
  else at.child("policyName").invalidEach(policy, dnsSubdomainProblems(policy));
  const parameters = maybeObject(spec, "paramRef");
  if (parameters !== undefined) checkParamRef(parameters, at.child("paramRef"));
  const match = maybeObject(spec, "matchResources");
  if (match !== undefined) checkMatchResources(match, at.child("matchResources"));
}

function checkParamRef(reference: JsonObject, at: Place): void {
  const name = textOf(reference, "name");
  const selector = maybeObject(reference, "selector");
  const both = "name and selector are mutually exclusive";
  if (name !== "") {
    at.child("name").invalidEach(name, pathSegmentProblems(name));
    if (selector !== undefined) at.child("name").forbidden(both);
  }
  if (selector !== undefined) {
    checkLabelSelector(selector, at.child("selector"));
    if (name !== "") at.child("selector").forbidden(both);
  }
  if (name === "" && selector === undefined) {
    at.required("one of name or selector must be specified");
  }
  const action = textOf(reference, "parameterNotFoundAction");
  const place = at.child("parameterNotFoundAction");
  if (action === "") place.required();
  else if (action !== "Deny" && action !== "Allow") place.notSupported(action, ["Deny", "Allow"]);
}

function checkActions(list: readonly string[], at: Place): void {
  const seen = new Set<string>();
  for (const [index, action] of list.entries()) {
    if (!actions.includes(action)) at.item(index).notSupported(action, actions);
    if (seen.has(action)) at.item(index).duplicateWord(action);
    seen.add(action);
  }
  if (seen.has("Deny") && seen.has("Warn")) {
    const detail =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    at.invalid(list, detail);
  }
  if (seen.size === 0) at.required("at least one validation action is required");
}
