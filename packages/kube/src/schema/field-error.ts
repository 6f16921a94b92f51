// What is wrong with one field, in the words of the real server.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";
import { goFloat, goJson, goQuote } from "./go-text.ts";
import type { FieldError, FieldErrorType } from "../status/field-error.ts";
import { floatOf, kindOf } from "./go-value.ts";

export type { FieldError, FieldErrorType } from "../status/field-error.ts";

const titles: Record<FieldErrorType, string> = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueTooFew: "Too few",
  FieldValueTooShort: "Too short",
  FieldValueTypeInvalid: "Invalid value",
  InternalError: "Internal error",
};

/** The `message` of a cause: everything but the field. */
export function causeMessage({ type, value, shown, detail }: FieldError): string {
  const printed = shown ?? (value === undefined ? undefined : valueText(value));
  const title = printed === undefined ? titles[type] : `${titles[type]}: ${printed}`;
  return detail === "" ? title : `${title}: ${detail}`;
}

/** The whole sentence, as `Status.message` joins them. */
export function fieldErrorMessage(error: FieldError): string {
  return `${error.field}: ${causeMessage(error)}`;
}

function valueText(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (isJsonArray(value) || isJsonObject(value)) return goJson(value);
  return kindOf(value) === "number" ? goFloat(floatOf(value)) : String(value);
}

function fieldAt(path: string): string {
  return path === "" ? "<nil>" : path;
}

export function required(path: string, detail = ""): FieldError {
  return { type: "FieldValueRequired", field: fieldAt(path), detail };
}

export function forbidden(path: string, detail: string): FieldError {
  return { type: "FieldValueForbidden", field: fieldAt(path), detail };
}

export function invalid(path: string, value: Json, detail: string): FieldError {
  return { type: "FieldValueInvalid", field: fieldAt(path), value, detail };
}

export function typeInvalid(path: string, value: Json, detail: string): FieldError {
  return { type: "FieldValueTypeInvalid", field: fieldAt(path), value, detail };
}

export function duplicate(path: string, value: Json): FieldError {
  return { type: "FieldValueDuplicate", field: fieldAt(path), value, detail: "" };
}

/** Supported values are given as text; a list of none says nothing. */
export function notSupported(path: string, value: Json, supported: readonly string[]): FieldError {
  const detail =
    supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`;
  return { type: "FieldValueNotSupported", field: fieldAt(path), value, detail };
}

export function tooLong(path: string, bytesMax: number): FieldError {
  const detail = `may not be more than ${bytesMax} ${bytesMax === 1 ? "byte" : "bytes"}`;
  return { type: "FieldValueTooLong", field: fieldAt(path), detail };
}

export function tooMany(path: string, actual: number, max: number): FieldError {
  const detail = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return { type: "FieldValueTooMany", field: fieldAt(path), value: actual, detail };
}

/** The path of a named child: `spec.containers`. */
export function child(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The path of an item, or of an entry of a map: `spec.containers[0]`, `metadata.labels[app]`. */
export function entry(path: string, key: string | number): string {
  return `${path}[${key}]`;
}
