// The rules of questions about who may do what.

import type { JsonObject } from "@keelson/base";

import { printShape, struct } from "../../../go-text/struct-text.ts";
import { maybeObject, objectOf, objectsOf, textOf, textsOf } from "../../../object/members.ts";
import { labelKeyProblems, labelValueProblems, pathSegmentNames } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { metadataText } from "../meta/metadata-text.ts";
import { Place } from "../place.ts";

const urlShape = struct("Path path string\nVerb verb string");

export const subjectAccessReview: KindRules = {
  names: pathSegmentNames,
  validate: (object) => {
    const errors = subjectErrors(object);
    checkEmptyMetadata(object, errors, { mayHaveNamespace: false });
    return errors;
  },
};

export const selfSubjectAccessReview: KindRules = {
  names: pathSegmentNames,
  validate: (object) => {
    const errors = attributesErrors(object);
    checkEmptyMetadata(object, errors, { mayHaveNamespace: false });
    return errors;
  },
};

export const localSubjectAccessReview: KindRules = {
  names: pathSegmentNames,
  validate: (object) => {
    const errors = subjectErrors(object);
    checkEmptyMetadata(object, errors, { mayHaveNamespace: true });
    const spec = objectOf(object, "spec");
    const attributes = maybeObject(spec, "resourceAttributes");
    const at = Place.root("spec", errors);
    if (attributes !== undefined) {
      const namespace = textOf(attributes, "namespace");
      if (namespace !== textOf(objectOf(object, "metadata"), "namespace")) {
        const place = at.child("resourceAttributes").child("namespace");
        place.invalid(namespace, "must match metadata.namespace");
      }
    }
    const url = maybeObject(spec, "nonResourceAttributes");
    if (url !== undefined) {
      const shown = printShape(urlShape, url);
      at.child("nonResourceAttributes").invalidShown(shown, "disallowed on this kind of request");
    }
    return errors;
  },
};

function checkEmptyMetadata(
  object: JsonObject,
  errors: FieldError[],
  { mayHaveNamespace }: { readonly mayHaveNamespace: boolean },
): void {
  const metadata = objectOf(object, "metadata");
  const { managedFields: _managed, namespace, ...rest } = metadata;
  const isEmpty = Object.keys(rest).length === 0 && (mayHaveNamespace || (namespace ?? "") === "");
  if (isEmpty) return;
  const detail = mayHaveNamespace ? "must be empty except for namespace" : "must be empty";
  Place.root("metadata", errors).invalidShown(metadataText(metadata), detail);
}

/** What is asked, and about whom. */
function subjectErrors(object: JsonObject): FieldError[] {
  const spec = objectOf(object, "spec");
  return attributesErrors(object, (at) => {
    if (textOf(spec, "user") === "" && textsOf(spec, "groups").length === 0) {
      at.child("user").invalid("", "at least one of user or group must be specified");
    }
  });
}

function attributesErrors(
  object: JsonObject,
  checkSubject: (at: Place) => void = () => undefined,
): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  const resource = maybeObject(spec, "resourceAttributes");
  const url = maybeObject(spec, "nonResourceAttributes");
  if (resource !== undefined && url !== undefined) {
    const detail = "cannot be specified in combination with resourceAttributes";
    at.child("nonResourceAttributes").invalidShown(printShape(urlShape, url), detail);
  }
  if (resource === undefined && url === undefined) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    at.child("resourceAttributes").invalid(null, detail);
  }
  checkSubject(at);
  if (resource !== undefined) {
    const place = at.child("resourceAttributes");
    checkSelector(maybeObject(resource, "fieldSelector"), place.child("fieldSelector"), {
      isLabels: false,
    });
    checkSelector(maybeObject(resource, "labelSelector"), place.child("labelSelector"), {
      isLabels: true,
    });
  }
  return at.errors;
}

function checkSelector(
  selector: JsonObject | undefined,
  at: Place,
  { isLabels }: { readonly isLabels: boolean },
): void {
  if (selector === undefined) return;
  const raw = textOf(selector, "rawSelector");
  const requirements = objectsOf(selector, "requirements");
  if (raw !== "" && requirements.length > 0) {
    at.child("rawSelector").invalid(raw, "may not specified at the same time as requirements");
  }
  if (raw === "" && requirements.length === 0) {
    const detail = `when ${at.path} is specified, requirements or rawSelector is required`;
    at.child("requirements").required(detail);
  }
  for (const [index, requirement] of requirements.entries()) {
    const place = at.child("requirements").item(index);
    if (isLabels) checkLabel(requirement, place);
    else checkField(requirement, place);
  }
}

/** Operators that are not known are let through: a newer client may know them. */
function checkValues(requirement: JsonObject, at: Place): void {
  const values = textsOf(requirement, "values");
  const operator = textOf(requirement, "operator");
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    at.child("values").required("must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    at.child("values").forbidden(detail);
  }
}

function checkField(requirement: JsonObject, at: Place): void {
  if (textOf(requirement, "key") === "") at.child("key").required("must be specified");
  checkValues(requirement, at);
}

function checkLabel(requirement: JsonObject, at: Place): void {
  checkValues(requirement, at);
  const key = textOf(requirement, "key");
  at.child("key").invalidEach(key, labelKeyProblems(key));
  for (const [index, value] of textsOf(requirement, "values").entries()) {
    at.child("values").item(index).invalidEach(value, labelValueProblems(value));
  }
}
