// Which nodes are chosen: for Pods and for volumes.

import type { JsonObject } from "@keelson/base";

import {
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../object/names.ts";
import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../members.ts";
import type { Place } from "../place.ts";

export interface NodeSelectorOptions {
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
    checkExpression(requirement, at.child("matchExpressions").item(index), options);
  }
  for (const [index, requirement] of objectsOf(term, "matchFields").entries()) {
    checkField(requirement, at.child("matchFields").item(index));
  }
}

function checkExpression(
  requirement: JsonObject,
  at: Place,
  { allowInvalidValues }: NodeSelectorOptions,
): void {
  const operator = textOf(requirement, "operator");
  const values = textsOf(requirement, "values");
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        at.child("values").required("must be specified when `operator` is 'In' or 'NotIn'");
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        at.child("values").forbidden(
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        );
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        at.child("values").required(
          "must be specified single value when `operator` is 'Lt' or 'Gt'",
        );
      }
      break;
    default:
      at.child("operator").invalid(operator, "not a valid selector operator");
  }
  const key = textOf(requirement, "key");
  at.child("key").invalidEach(key, labelKeyProblems(key));
  if (allowInvalidValues) return;
  for (const [index, value] of values.entries()) {
    at.child("values").item(index).invalidEach(value, labelValueProblems(value));
  }
}

function checkField(requirement: JsonObject, at: Place): void {
  const [operator, key] = [textOf(requirement, "operator"), textOf(requirement, "key")];
  const values = textsOf(requirement, "values");
  if (operator !== "In" && operator !== "NotIn") {
    at.child("operator").invalid(operator, "not a valid selector operator");
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
