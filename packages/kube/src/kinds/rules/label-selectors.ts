// Selectors in specs: what is wrong with one, whether it chooses a template, and how a message shows it.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { goJson, goJsonString } from "../../go-text/go-json.ts";
import { listOf, maybeObject, objectOf, objectsOf, textOf, textsOf } from "../../object/members.ts";
import { validateLabels } from "../../object/metadata-rules.ts";
import { labelKeyProblems, labelValueProblems } from "../../object/names.ts";
import { matchesLabels, type Labels, type LabelSelector } from "../../selectors/label-selector.ts";
import { BadSelector } from "../../selectors/requirement.ts";
import { selectorFromObject } from "../../selectors/selector-object.ts";
import { Place } from "./place.ts";

interface SelectorRuleOptions {
  /** The old object had values that no label can have. */
  readonly allowInvalidValues?: boolean;
}

interface RequirementRuleOptions extends SelectorRuleOptions {
  /** Nodes are chosen by `Gt` and `Lt`, too. */
  readonly takesComparisons?: boolean;
}

/** Reports what is wrong with a `LabelSelector`; none at all is right. */
export function checkLabelSelector(
  selector: JsonObject | undefined,
  at: Place,
  { allowInvalidValues = false }: SelectorRuleOptions = {},
): void {
  if (selector === undefined) return;
  checkLabels(objectOf(selector, "matchLabels"), at.child("matchLabels"));
  const expressions = objectsOf(selector, "matchExpressions");
  if (expressions.length === 0) return;
  const place = at.child("matchExpressions");
  for (const [index, expression] of expressions.entries()) {
    checkRequirement(expression, place.item(index), { allowInvalidValues });
  }
}

/** Whether anything is wrong with a selector. If so with that of an old object, the new one may have invalid values too. */
export function isInvalidSelector(selector: JsonObject | undefined): boolean {
  const at = Place.root("");
  checkLabelSelector(selector, at);
  return at.errors.length > 0;
}

/** Reports what is wrong with one condition of a selector of labels or nodes. */
export function checkRequirement(
  requirement: JsonObject,
  at: Place,
  { allowInvalidValues = false, takesComparisons = false }: RequirementRuleOptions,
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
      if (!takesComparisons) {
        at.child("operator").invalidWord(operator, "not a valid selector operator");
      } else if (values.length !== 1) {
        at.child("values").required(
          "must be specified single value when `operator` is 'Lt' or 'Gt'",
        );
      }
      break;
    default:
      at.child("operator").invalidWord(operator, "not a valid selector operator");
  }
  const key = textOf(requirement, "key");
  at.child("key").invalidEach(key, labelKeyProblems(key));
  if (allowInvalidValues) return;
  for (const [index, value] of values.entries()) {
    at.child("values").item(index).invalidEach(value, labelValueProblems(value));
  }
}

/** Reports labels that are none. */
export function checkLabels(labels: JsonObject, at: Place): void {
  if (Object.keys(labels).length > 0) at.add(validateLabels(labels, at.path));
}

/** Whether the selector has no condition at all. */
export function isEmptySelector(selector: JsonObject): boolean {
  return (
    Object.keys(objectOf(selector, "matchLabels")).length === 0 &&
    listOf(selector, "matchExpressions").length === 0
  );
}

/**
 * Reads a `LabelSelector`. Undefined for one that cannot be read; one that is absent chooses nothing, and is "nothing".
 */
export function readSelector(
  selector: JsonObject | undefined,
): LabelSelector | "nothing" | undefined {
  if (selector === undefined) return "nothing";
  try {
    return selectorFromObject(selector);
  } catch (error) {
    if (error instanceof BadSelector) return undefined;
    throw error;
  }
}

/** Whether a selector chooses what has these labels. */
export function chooses(selector: LabelSelector | "nothing", labels: JsonObject): boolean {
  if (selector === "nothing") return false;
  return selector.length === 0 || matchesLabels(selector, labelsOf(labels));
}

/** A `LabelSelector` in a message: `matchLabels` first. */
export function showSelector(selector: JsonObject | undefined): string {
  if (selector === undefined) return "null";
  const labels = maybeObject(selector, "matchLabels");
  const members: string[] = [];
  if (labels !== undefined && Object.keys(labels).length > 0) {
    members.push(`"matchLabels":${goJson(labels)}`);
  }
  const expressions = listOf(selector, "matchExpressions");
  if (expressions.length > 0) {
    members.push(`"matchExpressions":[${expressions.map(showRequirement).join(",")}]`);
  }
  return `{${members.join(",")}}`;
}

/** Whether a selector has a value that no label can have. */
export function hasInvalidValue(selector: JsonObject | undefined): boolean {
  if (selector === undefined) return false;
  return objectsOf(selector, "matchExpressions").some((expression) =>
    textsOf(expression, "values").some((value) => labelValueProblems(value).length > 0),
  );
}

function showRequirement(requirement: Json): string {
  if (!isJsonObject(requirement)) return goJson(requirement);
  const values = listOf(requirement, "values");
  return [
    `{"key":${goJsonString(textOf(requirement, "key"))}`,
    `"operator":${goJsonString(textOf(requirement, "operator"))}`,
    ...(values.length === 0 ? [] : [`"values":${goJson(values)}`]),
  ]
    .join(",")
    .concat("}");
}

function labelsOf(labels: JsonObject): Labels {
  return Object.fromEntries(Object.keys(labels).map((key) => [key, textOf(labels, key)]));
}
