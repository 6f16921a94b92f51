// The rules of roles and of who has them.

import type { JsonObject } from "@keelson/base";

import { printShape, struct } from "../../../go-text/struct-text.ts";
import { listOf, maybeObject, objectOf, objectsOf, textOf } from "../../../object/members.ts";
import {
  dnsSubdomainProblems,
  pathSegmentNames,
  pathSegmentProblems,
} from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkLabelSelector, isInvalidSelector, readSelector } from "../label-selectors.ts";
import { isSame } from "../meta/checks.ts";
import { Place } from "../place.ts";

const group = "rbac.authorization.k8s.io";

export const role: KindRules = {
  names: pathSegmentNames,
  validate: (object) => {
    const at = Place.root("rules");
    for (const [index, rule] of objectsOf(object, "rules").entries()) {
      checkRule(rule, at.item(index), { isNamespaced: true });
    }
    return at.errors;
  },
};

export const clusterRole: KindRules = {
  names: pathSegmentNames,
  validate: (object) => clusterRoleErrors(object, { allowInvalidValues: false }),
  validateUpdate: (object, old) =>
    clusterRoleErrors(object, { allowInvalidValues: hasInvalidSelector(old) }),
};

export const roleBinding: KindRules = bindingRules({
  kinds: ["Role", "ClusterRole"],
  isNamespaced: true,
});

export const clusterRoleBinding: KindRules = bindingRules({
  kinds: ["ClusterRole"],
  isNamespaced: false,
});

function clusterRoleErrors(
  object: JsonObject,
  options: { readonly allowInvalidValues: boolean },
): readonly FieldError[] {
  const at = Place.root("rules");
  for (const [index, rule] of objectsOf(object, "rules").entries()) {
    checkRule(rule, at.item(index), { isNamespaced: false });
  }
  const aggregation = maybeObject(object, "aggregationRule");
  if (aggregation === undefined) return at.errors;
  const selectors = objectsOf(aggregation, "clusterRoleSelectors");
  const place = Place.root("aggregationRule", at.errors).child("clusterRoleSelectors");
  if (selectors.length === 0) {
    place.required("at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (const [index, selector] of selectors.entries()) {
    checkLabelSelector(selector, place.item(index), options);
    if (readSelector(selector) === undefined) {
      place.item(index).invalid(null, "invalid label selector.");
    }
  }
  return at.errors;
}

function hasInvalidSelector(old: JsonObject): boolean {
  const selectors = objectsOf(objectOf(old, "aggregationRule"), "clusterRoleSelectors");
  return selectors.some(isInvalidSelector);
}

function checkRule(
  rule: JsonObject,
  at: Place,
  { isNamespaced }: { readonly isNamespaced: boolean },
): void {
  if (listOf(rule, "verbs").length === 0) {
    at.child("verbs").required("verbs must contain at least one value");
  }
  const urls = listOf(rule, "nonResourceURLs");
  const has = (name: string): boolean => listOf(rule, name).length > 0;
  if (urls.length > 0) {
    const place = at.child("nonResourceURLs");
    if (isNamespaced) {
      place.invalid(urls, "namespaced rules cannot apply to non-resource URLs");
    }
    if (has("apiGroups") || has("resources") || has("resourceNames")) {
      place.invalid(urls, "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (!has("apiGroups")) {
    at.child("apiGroups").required("resource rules must supply at least one api group");
  }
  if (!has("resources")) {
    at.child("resources").required("resource rules must supply at least one resource");
  }
}

const refShape = struct("APIGroup apiGroup string\nKind kind string\nName name string");

function bindingRules(options: {
  readonly kinds: readonly string[];
  readonly isNamespaced: boolean;
}): KindRules {
  const errorsOf = (object: JsonObject): FieldError[] => {
    const at = Place.root("roleRef");
    const ref = objectOf(object, "roleRef");
    const [apiGroup, kind, name] = [
      textOf(ref, "apiGroup"),
      textOf(ref, "kind"),
      textOf(ref, "name"),
    ];
    if (apiGroup !== group) at.child("apiGroup").notSupportedText(apiGroup, [group]);
    if (!options.kinds.includes(kind)) at.child("kind").notSupportedText(kind, options.kinds);
    if (name === "") at.child("name").required();
    else at.child("name").invalidEach(name, pathSegmentProblems(name));
    const place = Place.root("subjects", at.errors);
    for (const [index, subject] of objectsOf(object, "subjects").entries()) {
      checkSubject(subject, place.item(index), options);
    }
    return at.errors;
  };
  return {
    names: pathSegmentNames,
    validate: errorsOf,
    validateUpdate: (object, old) => {
      const errors = errorsOf(object);
      if (!isSame(object["roleRef"], old["roleRef"])) {
        const shown = printShape(refShape, object["roleRef"]);
        Place.root("roleRef", errors).invalidShown(shown, "cannot change roleRef");
      }
      return errors;
    },
  };
}

const subjectKinds = ["ServiceAccount", "User", "Group"];

function checkSubject(
  subject: JsonObject,
  at: Place,
  { isNamespaced }: { readonly isNamespaced: boolean },
): void {
  const [name, apiGroup] = [textOf(subject, "name"), textOf(subject, "apiGroup")];
  if (name === "") at.child("name").required();
  const kind = textOf(subject, "kind");
  switch (kind) {
    case "ServiceAccount":
      if (name !== "") at.child("name").invalidEach(name, dnsSubdomainProblems(name));
      if (apiGroup !== "") at.child("apiGroup").notSupportedText(apiGroup, [""]);
      if (!isNamespaced && textOf(subject, "namespace") === "") at.child("namespace").required();
      break;
    case "User":
    case "Group":
      if (apiGroup !== group) at.child("apiGroup").notSupportedText(apiGroup, [group]);
      break;
    default:
      at.child("kind").notSupportedText(kind, subjectKinds);
  }
}
