// Which targets a global resource is for: a label selector, as Kubernetes writes them.

import {
  isJsonArray,
  isJsonObject,
  type FieldProblem,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { labelKeyProblems, labelValueProblems } from "@keelson/kube";
import type { Fields } from "../resources/read-fields.ts";

const operators = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

/** Reads the member `selector`. Undefined: it is not there; null: every target. Problems are added to those of `fields`. */
export function readSelector(fields: Fields): JsonObject | null | undefined {
  const value = fields.any("selector");
  if (value === undefined || value === null) return value;
  fields.problems.push(...selectorProblems(value));
  return isJsonObject(value) ? value : null;
}

function selectorProblems(selector: Json): readonly FieldProblem[] {
  if (!isJsonObject(selector)) return [{ field: "selector", message: "must be an object or null" }];
  return Object.entries(selector).flatMap(([name, value]) => {
    const field = `selector.${name}`;
    if (name === "matchLabels") return labelProblems(value, field);
    if (name === "matchExpressions") return expressionsProblems(value, field);
    return [{ field, message: "is not a known field" }];
  });
}

function labelProblems(labels: Json, field: string): readonly FieldProblem[] {
  if (!isJsonObject(labels)) return [{ field, message: "must be an object" }];
  return Object.entries(labels).flatMap(([key, value]) => {
    const problems =
      typeof value === "string"
        ? [...labelKeyProblems(key), ...labelValueProblems(value)]
        : ["must be a text"];
    return problems.map((message) => ({ field: `${field}.${key}`, message }));
  });
}

function expressionsProblems(expressions: Json, field: string): readonly FieldProblem[] {
  if (!isJsonArray(expressions)) return [{ field, message: "must be a list" }];
  return expressions.flatMap((expression, index) =>
    expressionProblems(expression, `${field}[${index}]`),
  );
}

function expressionProblems(expression: Json, field: string): readonly FieldProblem[] {
  if (!isJsonObject(expression)) return [{ field, message: "must be an object" }];
  const { key, operator, values, ...others } = expression;
  const problems: FieldProblem[] = Object.keys(others).map((name) => {
    return { field: `${field}.${name}`, message: "is not a known field" };
  });
  if (typeof key !== "string") problems.push({ field: `${field}.key`, message: "must be a text" });
  else {
    for (const message of labelKeyProblems(key)) problems.push({ field: `${field}.key`, message });
  }
  if (!operators.some((one) => one === operator)) {
    const message = `must be one of ${operators.join(", ")}`;
    problems.push({ field: `${field}.operator`, message });
    return problems;
  }
  const at = `${field}.values`;
  if (operator === "Exists" || operator === "DoesNotExist") {
    const isEmpty = values === undefined || (isJsonArray(values) && values.length === 0);
    if (!isEmpty) problems.push({ field: at, message: `must not be given with ${operator}` });
    return problems;
  }
  if (!isJsonArray(values) || values.length === 0) {
    problems.push({ field: at, message: "must be a list with a value at least, for In and NotIn" });
    return problems;
  }
  for (const [index, value] of values.entries()) {
    const wrong = typeof value === "string" ? labelValueProblems(value) : ["must be a text"];
    for (const message of wrong) problems.push({ field: `${at}[${index}]`, message });
  }
  return problems;
}
