// Validation of objects against their schema.

import type { Json } from "@keelson/base";
import { compileCheck } from "./check.ts";
import { Correlation } from "./correlation.ts";
import type { FieldError } from "../status/field-error.ts";
import { report, reportRatcheted } from "./report.ts";
import type { StructuralSchema } from "./structural.ts";

/**
 * What is wrong with a value, in the words and at the paths of the real server; nothing if it is valid. The
 * errors follow the order of the value's fields. `path` is where the value stands, empty for a whole object.
 *
 * Time is linear in the value, but for `anyOf` and `oneOf`, which try each alternative.
 */
export function validate(schema: StructuralSchema, value: Json, path = ""): FieldError[] {
  if (compileCheck(schema)(value)) return [];
  return report(schema, value, "").toFieldErrors(path);
}

/** As `validate`, but what is wrong and has not changed since `old` is let through. */
export function validateUpdate(
  schema: StructuralSchema,
  value: Json,
  old: Json,
  path = "",
): FieldError[] {
  if (compileCheck(schema)(value)) return [];
  const correlation = new Correlation({ value, old, schema, path: "" });
  return reportRatcheted(correlation, schema, "").toFieldErrors(path);
}
