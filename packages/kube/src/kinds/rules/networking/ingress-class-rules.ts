// The rules of IngressClasses.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { maybeObject, maybeText, objectOf, textOf } from "../../../object/members.ts";
import { dnsLabelProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkDomainPrefixedPath, checkImmutable } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { checkLocalReference } from "./ingress-rules.ts";

const controllerBytesMax = 250;
const scopes = ["Cluster", "Namespace"];

export const ingressClass: KindRules = {
  validate: (object) => specErrors(objectOf(object, "spec")),
  validateUpdate: (object, old) => {
    const spec = objectOf(object, "spec");
    const at = Place.root("spec").child("controller");
    checkImmutable(textOf(spec, "controller"), textOf(objectOf(old, "spec"), "controller"), at);
    return [...at.errors, ...specErrors(spec)];
  },
};

function specErrors(spec: JsonObject): readonly FieldError[] {
  const at = Place.root("spec");
  const controller = textOf(spec, "controller");
  if (byteLength(controller) > controllerBytesMax) {
    at.child("controller").tooLong(controllerBytesMax);
  }
  checkDomainPrefixedPath(controller, at.child("controller"));
  const parameters = maybeObject(spec, "parameters");
  if (parameters !== undefined) checkParameters(parameters, at.child("parameters"));
  return at.errors;
}

function checkParameters(parameters: JsonObject, at: Place): void {
  checkLocalReference(parameters, at);
  const scope = maybeText(parameters, "scope");
  const namespace = maybeText(parameters, "namespace");
  const place = at.child("namespace");
  if (scope === undefined) at.child("scope").required();
  else if (!scopes.includes(scope)) at.child("scope").notSupportedText(scope, scopes);
  else if (scope === "Cluster") {
    if (namespace !== undefined) place.forbidden("`parameters.scope` is set to 'Cluster'");
  } else if (namespace === undefined) {
    place.required("`parameters.scope` is set to 'Namespace'");
  } else {
    place.invalidEach(namespace, dnsLabelProblems(namespace));
  }
}
