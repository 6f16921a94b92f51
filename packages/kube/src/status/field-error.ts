// What is wrong with one field of an object, and how it is said.

import { JsonNumber, type Json } from "@keelson/base";

import { goJson } from "../go-text/go-json.ts";
import { printFloat } from "../go-text/go-print.ts";
import { quote } from "../go-text/quote.ts";
import type { StatusCause } from "./status.ts";

const texts = {
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
} as const;

/** What is wrong with a field, as `details.causes[].reason`. */
export type FieldErrorType = keyof typeof texts;

/** A field that is not as it must be. */
export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.containers[0].name`. */
  readonly field: string;
  /** The value as the message shows it; absent where the message shows none. */
  readonly value?: Json;
  /** The value in the message's own words, where those are not its JSON: a struct in the order of its fields. */
  readonly shown?: string;
  readonly detail: string;
}

export function invalidField(field: string, value: Json, detail: string): FieldError {
  return { type: "FieldValueInvalid", field: pathText(field), value, detail };
}

/** A value that the message shows as a text made elsewhere. */
export function invalidShownField(field: string, shown: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, shown, detail };
}

export function typeInvalidField(field: string, value: Json, detail: string): FieldError {
  return { type: "FieldValueTypeInvalid", field: pathText(field), value, detail };
}

export function requiredField(field: string, detail = ""): FieldError {
  return { type: "FieldValueRequired", field: pathText(field), detail };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { type: "FieldValueForbidden", field: pathText(field), detail };
}

export function duplicateField(field: string, value: Json): FieldError {
  return { type: "FieldValueDuplicate", field: pathText(field), value, detail: "" };
}

export function notFoundField(field: string, value: Json): FieldError {
  return { type: "FieldValueNotFound", field: pathText(field), value, detail: "" };
}

/** A value that is not one of a closed set; the set is listed in its own order. */
export function notSupportedField(
  field: string,
  value: Json,
  supported: readonly string[],
): FieldError {
  const list = supported.map(quote).join(", ");
  const detail = supported.length === 0 ? "" : `supported values: ${list}`;
  return { type: "FieldValueNotSupported", field: pathText(field), value, detail };
}

/** More bytes than allowed; the value itself is not shown. */
export function tooLongField(field: string, bytesMax: number): FieldError {
  const detail = `may not be more than ${bytesMax} ${bytesMax === 1 ? "byte" : "bytes"}`;
  return { type: "FieldValueTooLong", field: pathText(field), detail };
}

export function tooManyField(field: string, count: number, countMax: number): FieldError {
  const detail = `must have at most ${countMax} ${countMax === 1 ? "item" : "items"}`;
  return { type: "FieldValueTooMany", field: pathText(field), value: count, detail };
}

export function internalField(field: string, detail: string): FieldError {
  return { type: "InternalError", field: pathText(field), detail };
}

/** `spec.replicas: Invalid value: -1: must be …`. */
export function printFieldError(error: FieldError): string {
  return `${error.field}: ${printFieldErrorBody(error)}`;
}

/** Several errors in one text: each once, in brackets if there is more than one. */
export function printFieldErrors(errors: readonly FieldError[]): string {
  return tellFieldErrors(errors).text;
}

/** How many errors are told of one object, and with how many characters. The first is told whatever its length. */
export const toldErrorsMax = 1_000;
export const toldTextMax = 1024 * 1024;

/** Errors as one text and as `details.causes`. Where there are too many of them, the last one told says so. */
export function tellFieldErrors(errors: readonly FieldError[]): {
  readonly text: string;
  readonly causes: readonly StatusCause[];
} {
  const unique = new Set<string>();
  const causes: StatusCause[] = [];
  let length = 0;
  for (const error of errors) {
    const cause = causeOf(error);
    const text = `${error.field}: ${cause.message}`;
    length += text.length;
    if (causes.length >= toldErrorsMax || (causes.length > 0 && length > toldTextMax)) {
      causes.push(causeOf(untold));
      unique.add(printFieldError(untold));
      break;
    }
    causes.push(cause);
    unique.add(text);
  }
  const texts = [...unique];
  return { text: texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`, causes };
}

/** The error as an entry of `details.causes`. */
export function causeOf(error: FieldError): StatusCause {
  return { reason: error.type, message: printFieldErrorBody(error), field: error.field };
}

/** The path of a member: `spec` and `replicas` make `spec.replicas`. */
export function childPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** The path of an item or of a map's entry: `spec.ports[0]`, `metadata.labels[app]`. */
export function itemPath(path: string, index: number | string): string {
  return `${path}[${index}]`;
}

/** What is said of the errors that are not told. */
export const untoldText = "there are more errors than are told here";

/** Stands for the errors that are not told. */
export const untold: FieldError = {
  type: "FieldValueTooMany",
  field: "<nil>",
  detail: untoldText,
};

/** Go prints the root, to which no path leads, as what it is to Go. */
function pathText(path: string): string {
  return path === "" ? "<nil>" : path;
}

function printFieldErrorBody({ type, value, shown, detail }: FieldError): string {
  const printed = shown ?? (value === undefined ? undefined : printBadValue(value));
  const body = printed === undefined ? texts[type] : `${texts[type]}: ${printed}`;
  return detail === "" ? body : `${body}: ${detail}`;
}

function printBadValue(value: Json): string {
  if (typeof value === "string") return quote(value);
  if (value instanceof JsonNumber) return printFloat(Number(value.text));
  if (typeof value === "number" && !Number.isSafeInteger(value)) return printFloat(value);
  return goJson(value);
}
