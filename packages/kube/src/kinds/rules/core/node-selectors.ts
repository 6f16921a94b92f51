// Which nodes are chosen: for Pods and for volumes.

import type { JsonObject } from "@keelson/base";

import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../../../object/members.ts";
import { dnsSubdomainProblems } from "../../../object/names.ts";
import { checkRequirement, hasInvalidValue } from "../label-selectors.ts";
import type { Place } from "../place.ts";

interface NodeSelectorOptions {
  /** Values need not be values of labels. */
  readonly allowInvalidValues: boolean;
}

export function checkNodeSelector(
  selector: JsonObject,
  at: Place,
  options: NodeSelectorOptions,
): void {
  const terms = objectsOf(selector, "nodeSelectorTerms");
  const place = at.child("nodeSelectorTerms");
  if (terms.length === 0) place.required("must have at least one node selector term");
  for (const [index, term] of terms.entries()) checkTerm(term, place.item(index), options);
}

export function checkPreferredTerms(terms: readonly JsonObject[], at: Place): void {
  for (const [index, term] of terms.entries()) {
    checkWeight(term, at.item(index));
    checkTerm(objectOf(term, "preference"), at.item(index).child("preference"), {
      allowInvalidValues: true,
    });
  }
}

export function checkWeight(term: JsonObject, at: Place): void {
  const weight = numberOf(term, "weight");
  if (weight <= 0 || weight > 100) at.child("weight").invalid(weight, "must be in the range 1-100");
}

function checkTerm(term: JsonObject, at: Place, options: NodeSelectorOptions): void {
  for (const [index, requirement] of objectsOf(term, "matchExpressions").entries()) {
    const place = at.child("matchExpressions").item(index);
    checkRequirement(requirement, place, { ...options, takesComparisons: true });
  }
  for (const [index, requirement] of objectsOf(term, "matchFields").entries()) {
    checkField(requirement, at.child("matchFields").item(index));
  }
}

function checkField(requirement: JsonObject, at: Place): void {
  const [operator, key] = [textOf(requirement, "operator"), textOf(requirement, "key")];
  const values = textsOf(requirement, "values");
  if (operator !== "In" && operator !== "NotIn") {
    at.child("operator").invalidWord(operator, "not a valid selector operator");
  } else if (values.length !== 1) {
    at.child("values").required(
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
    );
  }
  if (key !== "metadata.name") {
    at.child("key").invalid(key, "not a valid field selector key");
    return;
  }
  for (const [index, value] of values.entries()) {
    at.child("values").item(index).invalidEach(value, dnsSubdomainProblems(value));
  }
}

/** Whether terms of a node selector have values that no label can have. */
export function hasInvalidNodeTerms(terms: readonly JsonObject[]): boolean {
  return terms.some((term) => hasInvalidValue(term));
}
