// What an access review asks, and what is wrong with how it asks.

import { append, isJsonObject, writeJson, type Json, type JsonObject } from "@keelson/base";
import {
  BadSelector,
  labelKeyProblems,
  labelRequirement,
  labelValueProblems,
  memberOf,
  parseFieldSelector,
  parseLabelSelector,
  type FieldError,
  type LabelOperator,
} from "@keelson/kube";

import type { Attributes } from "../authorizer.ts";
import { objectAt, objectsAt, textAt, textsAt } from "../../fields.ts";

/** The question of a review whose spec is valid. */
export function attributesOf(spec: JsonObject): Attributes {
  const resource = memberOf(spec, "resourceAttributes");
  if (!isJsonObject(resource)) {
    const path = objectAt(spec, "nonResourceAttributes");
    return { isResource: false, verb: textAt(path, "verb"), path: textAt(path, "path") };
  }
  const version = textAt(resource, "version");
  return {
    isResource: true,
    verb: textAt(resource, "verb"),
    group: textAt(resource, "group"),
    version: version === "" ? "*" : version,
    resource: textAt(resource, "resource"),
    subresource: textAt(resource, "subresource"),
    namespace: textAt(resource, "namespace"),
    name: textAt(resource, "name"),
  };
}

/** What is wrong with the attributes; `checksUser` where the spec names the user as well. */
export function specProblems(
  spec: JsonObject,
  { checksUser }: { readonly checksUser: boolean },
): readonly FieldError[] {
  const resource = memberOf(spec, "resourceAttributes");
  const path = memberOf(spec, "nonResourceAttributes");
  const errors: FieldError[] = [];
  if (isJsonObject(resource) && isJsonObject(path)) {
    errors.push(
      invalid(
        "spec.nonResourceAttributes",
        shownPath(path),
        "cannot be specified in combination with resourceAttributes",
      ),
    );
  }
  if (!isJsonObject(resource) && !isJsonObject(path)) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.push(invalid("spec.resourceAttributes", null, detail));
  }
  if (checksUser && textAt(spec, "user") === "" && textsAt(spec, "groups").length === 0) {
    errors.push(invalid("spec.user", "", "at least one of user or group must be specified"));
  }
  if (isJsonObject(resource)) {
    for (const name of ["fieldSelector", "labelSelector"] as const) {
      const selector = memberOf(resource, name);
      if (isJsonObject(selector)) append(errors, selectorProblems(selector, name));
    }
  }
  return errors;
}

/** Attributes of a path as a message shows them: with the names of the real server's own fields. */
export function shownPath(path: JsonObject): JsonObject {
  return { Path: textAt(path, "path"), Verb: textAt(path, "verb") };
}

/** Metadata that must not be there, shown in the order of its fields. */
export function metadataProblem(metadata: JsonObject, detail: string): FieldError {
  const shown = writeJson(metadata)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026");
  return { type: "FieldValueInvalid", field: "metadata", detail: `${shown}: ${detail}` };
}

/** What of the selectors the authoriser cannot be told. */
export function selectorError(spec: JsonObject): string {
  const resource = objectAt(spec, "resourceAttributes");
  const texts: string[] = [];
  for (const name of ["fieldSelector", "labelSelector"] as const) {
    const selector = memberOf(resource, name);
    if (!isJsonObject(selector)) continue;
    const { good, bad } = name === "fieldSelector" ? judgeFields(selector) : judgeLabels(selector);
    if (bad === 0) continue;
    const how = good > 0 ? "partially ignored" : "ignored";
    texts.push(`spec.resourceAttributes.${name} ${how} due to parse error`);
  }
  return texts.join("; ");
}

export function invalid(field: string, value: Json, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, value, detail };
}

function selectorProblems(
  selector: JsonObject,
  name: "fieldSelector" | "labelSelector",
): readonly FieldError[] {
  const path = `spec.resourceAttributes.${name}`;
  const raw = textAt(selector, "rawSelector");
  const requirements = objectsAt(selector, "requirements");
  const errors: FieldError[] = [];
  if (raw !== "" && requirements.length > 0) {
    const detail = "may not specified at the same time as requirements";
    errors.push(invalid(`${path}.rawSelector`, raw, detail));
  }
  if (raw === "" && requirements.length === 0) {
    const detail = `when ${path} is specified, requirements or rawSelector is required`;
    errors.push({ type: "FieldValueRequired", field: `${path}.requirements`, detail });
  }
  for (const [index, requirement] of requirements.entries()) {
    const at = `${path}.requirements[${index}]`;
    const isField = name === "fieldSelector";
    const key = textAt(requirement, "key");
    if (isField && key === "") {
      errors.push({ type: "FieldValueRequired", field: `${at}.key`, detail: "must be specified" });
    }
    append(errors, valuesProblems(requirement, at));
    if (isField) continue;
    append(
      errors,
      labelKeyProblems(key).map((text) => invalid(`${at}.key`, key, text)),
    );
    for (const [n, value] of textsAt(requirement, "values").entries()) {
      const problems = labelValueProblems(value);
      append(
        errors,
        problems.map((text) => invalid(`${at}.values[${n}]`, value, text)),
      );
    }
  }
  return errors;
}

function valuesProblems(requirement: JsonObject, at: string): readonly FieldError[] {
  const count = textsAt(requirement, "values").length;
  const field = `${at}.values`;
  switch (textAt(requirement, "operator")) {
    case "In":
    case "NotIn": {
      const detail = "must be specified when `operator` is 'In' or 'NotIn'";
      return count > 0 ? [] : [{ type: "FieldValueRequired", field, detail }];
    }
    case "Exists":
    case "DoesNotExist": {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      return count === 0 ? [] : [{ type: "FieldValueForbidden", field, detail }];
    }
    default:
      return []; // One that a newer client knows.
  }
}

interface Judged {
  readonly good: number;
  readonly bad: number;
}

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

function judgeLabels(selector: JsonObject): Judged {
  const raw = textAt(selector, "rawSelector");
  if (raw !== "") return count([() => parseLabelSelector(raw)]);
  return count(
    objectsAt(selector, "requirements").map((requirement) => () => {
      const operator = operators.get(textAt(requirement, "operator"));
      if (operator === undefined) throw new BadSelector("the operator is unknown");
      labelRequirement(textAt(requirement, "key"), operator, textsAt(requirement, "values"));
    }),
  );
}

function judgeFields(selector: JsonObject): Judged {
  const raw = textAt(selector, "rawSelector");
  if (raw !== "") return count([() => parseFieldSelector(raw)]);
  return count(
    objectsAt(selector, "requirements").map((requirement) => () => {
      const isKnown = ["In", "NotIn"].includes(textAt(requirement, "operator"));
      if (!isKnown || textsAt(requirement, "values").length !== 1) {
        throw new BadSelector("field selectors compare with one value");
      }
    }),
  );
}

function count(attempts: readonly (() => unknown)[]): Judged {
  let good = 0;
  for (const attempt of attempts) {
    try {
      attempt();
      good += 1;
    } catch (error) {
      if (!(error instanceof BadSelector)) throw error;
    }
  }
  return { good, bad: attempts.length - good };
}
