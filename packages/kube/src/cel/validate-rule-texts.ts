// What is wrong with rules as they are written: their texts first, then their types.

import type { Json } from "@keelson/base";
import { trimSpace } from "../go-text/trim-space.ts";
import {
  childPath,
  itemPath,
  invalidField,
  notSupportedField,
  requiredField,
  type FieldError,
} from "../status/field-error.ts";
import { goJson } from "../go-text/go-json.ts";
import type { StructuralSchema, ValidationRule } from "../schema/structural.ts";
import { compileRule } from "./compile-rule.ts";
import { fieldPathOf } from "./field-path.ts";
import { schemaType } from "./schema-type.ts";

const reasons = [
  "FieldValueDuplicate",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueRequired",
];

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}

/** What can be said of rules without understanding them. Without a schema no path is followed. */
export function validateRuleTexts(
  rules: readonly ValidationRule[],
  schema: StructuralSchema | undefined,
  path: string,
): FieldError[] {
  return rules.flatMap((rule, index) =>
    textErrors(rule, schema, itemPath(childPath(path, "x-kubernetes-validations"), index)),
  );
}

function textErrors(
  rule: ValidationRule,
  schema: StructuralSchema | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const { message = "", messageExpression = "", fieldPath = "", reason } = rule;
  const text = rule.rule ?? "";
  const place = childPath(path, "message");
  if (trimSpace(text) === "") {
    errors.push(requiredField(childPath(path, "rule"), "rule is not specified"));
  } else if (message !== "" && trimSpace(message) === "") {
    errors.push(invalidField(place, message, "must be non-empty if specified"));
  } else if (hasLineBreak(trimSpace(message))) {
    errors.push(invalidField(place, message, "must not contain line breaks"));
  } else if (hasLineBreak(trimSpace(text)) && trimSpace(message) === "") {
    errors.push(requiredField(place, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== "" && trimSpace(messageExpression) === "") {
    const detail = "messageExpression must be non-empty if specified";
    errors.push(requiredField(childPath(path, "messageExpression"), detail));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(notSupportedField(childPath(path, "reason"), reason, reasons));
  }
  if (fieldPath === "") return errors;
  const pathPlace = childPath(path, "fieldPath");
  if (trimSpace(fieldPath) === "") {
    errors.push(invalidField(pathPlace, fieldPath, "must be non-empty if specified"));
  }
  if (hasLineBreak(fieldPath)) {
    errors.push(invalidField(pathPlace, fieldPath, "must not contain line breaks"));
  }
  if (schema !== undefined && fieldPathOf(fieldPath, schema) === undefined) {
    errors.push(invalidField(pathPlace, fieldPath, "must be a valid path"));
  }
  return errors;
}

/** What compiling the rules of a schema finds. */
export function validateRuleTypes(
  schema: StructuralSchema,
  {
    path,
    isObject,
    uncorrelated,
  }: {
    readonly path: string;
    readonly isObject: boolean;
    /** The place above from which on there is no old value to compare with. */
    readonly uncorrelated: string | undefined;
  },
): FieldError[] {
  const self = schemaType(schema, { isObject, name: "selfType" });
  if (self === undefined) {
    const field = childPath(path, "x-kubernetes-validations");
    const detail =
      "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
    return [{ type: "InternalError", field, detail }];
  }
  const errors: FieldError[] = [];
  for (const [index, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    const place = itemPath(childPath(path, "x-kubernetes-validations"), index);
    const { error, messageError, usesOldSelf } = compileRule(rule, schema, self);
    if (error !== undefined) {
      errors.push(ruleError(childPath(place, "rule"), rule, error));
    }
    if (messageError !== undefined) {
      errors.push(ruleError(childPath(place, "messageExpression"), rule, messageError));
    }
    if (usesOldSelf && uncorrelated !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      errors.push(invalidField(childPath(place, "rule"), rule.rule, detail));
    } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      const detail = "may not be set if oldSelf is not used in rule";
      errors.push(invalidField(childPath(place, "optionalOldSelf"), rule.optionalOldSelf, detail));
    }
  }
  return errors;
}

/** An error that shows the whole rule: with the names of the real server's own fields, and in their order. */
function ruleError(field: string, rule: ValidationRule, detail: string): FieldError {
  const { message = "", messageExpression = "", reason, fieldPath = "", optionalOldSelf } = rule;
  const members: readonly (readonly [name: string, value: Json])[] = [
    ["Rule", rule.rule],
    ["Message", message],
    ["MessageExpression", messageExpression],
    ["Reason", reason ?? null],
    ["FieldPath", fieldPath],
    ["OptionalOldSelf", optionalOldSelf ?? null],
  ];
  const shown = members.map(([name, value]) => `"${name}":${goJson(value)}`).join(",");
  // As a value its keys would be sorted.
  return { type: "FieldValueInvalid", field, detail: `{${shown}}: ${detail}` };
}
