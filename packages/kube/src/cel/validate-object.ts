// Everything that a schema has to say about a whole object, in the order of the real server.

import type { JsonObject } from "@keelson/base";
import { memberOf } from "../object/member.ts";
import { validateEmbedded } from "../schema/embedded.ts";
import { FieldErrorList } from "../status/field-error-list.ts";
import { invalidField, type FieldError, type FieldErrorType } from "../status/field-error.ts";
import { validateListTypes } from "../schema/list-types.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { validate, validateUpdate } from "../schema/validate.ts";
import { hasRules, validateRules, type RuleReport } from "./rules.ts";

export interface ObjectValidation {
  /** The object before the change; absent when it is new. */
  readonly old?: JsonObject;
  /** Only the status is written: its schema is asked about that, and rules about everything. */
  readonly onlyStatus?: boolean;
  /** What else is wrong; it is told after what the schema says. */
  readonly others?: readonly FieldError[];
}

/**
 * Validates an object that `prepareObject` has prepared: its schema, the objects in it, its sets and list-maps, and
 * its rules, which only run when nothing is wrong that they could stumble over. Warnings are for what is wrong
 * but has not changed.
 */
export function validateObject(
  schema: StructuralSchema,
  object: JsonObject,
  { old, onlyStatus = false, others = [] }: ObjectValidation = {},
): RuleReport {
  const schemaErrors = onlyStatus
    ? statusErrors(schema, object, old)
    : old === undefined
      ? validate(schema, object)
      : validateUpdate(schema, object, old);
  const isJudged = old === undefined || validateListTypes(schema, old).length === 0;
  const errors: FieldError[] = [
    ...schemaErrors,
    ...others,
    ...(onlyStatus ? [] : validateEmbedded(schema, object)),
    ...(isJudged ? validateListTypes(schema, object) : []),
  ];
  if (!hasRules(schema)) return { errors, warnings: [] };
  // Among more errors than are told may be any.
  if (new FieldErrorList(errors).isFull || errors.some(({ type }) => blocking.has(type))) {
    const detail =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    return { errors: [...errors, invalidField("", null, detail)], warnings: [] };
  }
  const report = validateRules(schema, object, old === undefined ? {} : { old });
  return { errors: [...errors, ...report.errors], warnings: report.warnings };
}

function statusErrors(
  schema: StructuralSchema,
  object: JsonObject,
  old: JsonObject | undefined,
): FieldError[] {
  const status = memberOf(object, "status");
  const statusSchema = schema.properties?.["status"];
  if (status === undefined || statusSchema === undefined) return [];
  const before = old === undefined ? undefined : memberOf(old, "status");
  return validateUpdate(statusSchema, status, before ?? null, "status");
}

/** What a rule, which relies on types and sizes, could stumble over. */
const blocking: ReadonlySet<FieldErrorType> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
