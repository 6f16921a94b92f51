// What a version of a definition says besides its schema: subresources, columns, selectable fields, deprecation.

import { append, type JsonObject } from "@keelson/base";

import { resolveFieldPath } from "../../../cel/field-path.ts";
import { byteLength } from "../../../go-text/byte-order.ts";
import { isPrintable } from "../../../go-text/quote.ts";
import { flagOf, has, maybeObject, maybeText, textOf } from "../../../object/members.ts";
import { readSchema } from "../../../schema/read-schema.ts";
import {
  childPath,
  duplicateField,
  invalidField,
  itemPath,
  requiredField,
  tooManyField,
  type FieldError,
} from "../../../status/field-error.ts";

/** How many fields of a version can be selected by. */
export const selectableFieldsMax = 8;

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = [
  "byte",
  "date",
  "date-time",
  "double",
  "float",
  "int32",
  "int64",
  "password",
];

/** What is wrong with the text that clients of a deprecated version are told. */
export function deprecationProblems(version: JsonObject): readonly string[] {
  const warning = maybeText(version, "deprecationWarning");
  if (warning === undefined) return [];
  if (!flagOf(version, "deprecated")) return ["can only be set for deprecated versions"];
  const problems: string[] = [];
  if (byteLength(warning) > 256) problems.push("must be <= 256 characters long");
  if (warning === "") problems.push("must not be an empty string");
  let offset = 0;
  for (const character of warning) {
    if (!isPrintable(character)) {
      problems.push(
        `must only contain printable UTF-8 characters; non-printable character found at index ${offset}`,
      );
      break;
    }
    offset += byteLength(character);
  }
  return problems;
}

export function validateSubresources(
  subresources: JsonObject | undefined,
  path: string,
): FieldError[] {
  const scale = subresources && maybeObject(subresources, "scale");
  if (scale === undefined) return [];
  const errors: FieldError[] = [];
  const replicas = (name: string, under: string): void => {
    const place = childPath(path, `scale.${name}`);
    const value = textOf(scale, name);
    if (value === "") errors.push(requiredField(place));
    else
      errors.push(
        ...pathErrors(value, place, [under], `should be a json path under ${under.slice(0, -1)}`),
      );
  };
  replicas("specReplicasPath", ".spec.");
  replicas("statusReplicasPath", ".status.");
  const selector = textOf(scale, "labelSelectorPath");
  if (selector !== "") {
    const detail = "should be a json path under either .spec or .status";
    const place = childPath(path, "scale.labelSelectorPath");
    append(errors, pathErrors(selector, place, [".spec.", ".status."], detail));
  }
  return errors;
}

function pathErrors(
  value: string,
  path: string,
  under: readonly string[],
  detail: string,
): FieldError[] {
  const errors = validateSimplePath(value, path);
  if (errors.length > 0 || under.some((start) => value.startsWith(start))) return errors;
  return [invalidField(path, value, detail)];
}

function validateSimplePath(value: string, path: string): FieldError[] {
  if (value.startsWith(".")) return [];
  return [invalidField(path, value, "must be a simple json path starting with .")];
}

export function validateColumns(
  columns: readonly JsonObject[] | undefined,
  path: string,
): FieldError[] {
  return (columns ?? []).flatMap((column, index) => validateColumn(column, itemPath(path, index)));
}

function validateColumn(column: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (textOf(column, "name") === "") errors.push(requiredField(childPath(path, "name")));
  const type = textOf(column, "type");
  const types = `must be one of ${columnTypes.join(",")}`;
  if (type === "") errors.push(requiredField(childPath(path, "type"), types));
  else if (!columnTypes.includes(type)) {
    errors.push(invalidField(childPath(path, "type"), type, types));
  }
  const format = textOf(column, "format");
  if (format !== "" && !columnFormats.includes(format)) {
    const detail = `must be one of ${columnFormats.join(",")}`;
    errors.push(invalidField(childPath(path, "format"), format, detail));
  }
  const jsonPath = textOf(column, "jsonPath");
  const place = childPath(path, "JSONPath");
  if (jsonPath === "") errors.push(requiredField(place));
  else append(errors, validateSimplePath(jsonPath, place));
  return errors;
}

/** What is wrong with selectable fields; `mayBeMany` where they already were. */
export function validateSelectableFields(
  fields: readonly JsonObject[],
  schema: JsonObject,
  { path, mayBeMany }: { readonly path: string; readonly mayBeMany: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  const structural = readSchema(schema);
  const seen = new Set<string>();
  for (const [index, field] of fields.entries()) {
    const place = childPath(itemPath(path, index), "jsonPath");
    const jsonPath = textOf(field, "jsonPath");
    if (jsonPath === "") {
      errors.push(requiredField(place));
      continue;
    }
    const resolved = resolveFieldPath(jsonPath, structural, { allowBrackets: false });
    if (resolved.error !== undefined) {
      errors.push(invalidField(place, jsonPath, `is an invalid path: ${resolved.error}`));
      continue;
    }
    if (/^metadata(?![^.[])/.test(resolved.path)) {
      errors.push(invalidField(place, jsonPath, "must not point to fields in metadata"));
    }
    const { type } = resolved.schema;
    if (type !== "string" && type !== "boolean" && type !== "integer") {
      const detail =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.push(invalidField(place, jsonPath, detail));
    }
    if (seen.has(resolved.path)) errors.push(duplicateField(place, jsonPath));
    seen.add(resolved.path);
  }
  if (seen.size > selectableFieldsMax && !mayBeMany) {
    errors.push(tooManyField(path, seen.size, selectableFieldsMax));
  }
  return errors;
}

export function hasStatus(subresources: JsonObject | undefined): boolean {
  return subresources !== undefined && has(subresources, "status");
}
