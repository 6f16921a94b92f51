// What is wrong with a body, in the words of Go's decoder, and the sentences the API makes of them.

import { quote } from "../go-text/quote.ts";

/** A body whose values do not fit the fields of its kind. The message is Go's. */
export class TypedDecodeError extends Error {
  readonly code = "TYPED_DECODE";
  /** Where a value has the wrong type; undefined where its text is wrong. */
  readonly mismatch: TypeMismatch | undefined;

  constructor(problem: string | TypeMismatch) {
    super(typeof problem === "string" ? problem : mismatchMessage(problem));
    this.name = "TypedDecodeError";
    this.mismatch = typeof problem === "string" ? undefined : problem;
  }
}

/** A value that cannot be put into a Go variable. */
export interface TypeMismatch {
  /** What it is: `string`, `object`, `number 1.5`. */
  readonly value: string;
  /** The Go type it should be. */
  readonly type: string;
  /** The Go struct around the field, and the field's path from the root; empty for a value that stands alone. */
  readonly struct: string;
  readonly field: string;
}

/** What Go says of it. */
export function mismatchMessage({ value, type, struct, field }: TypeMismatch): string {
  const place = struct === "" && field === "" ? "value" : `struct field ${struct}.${field}`;
  return `json: cannot unmarshal ${value} into Go ${place} of type ${type}`;
}

/** The message of the 400 for a body that cannot be decoded. */
export function decodeFailureMessage(
  error: TypedDecodeError,
  { kind, version }: { readonly kind: string; readonly version: string },
): string {
  return `${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${error.message}`;
}

/** The message of the 400 for a body that strict field validation refuses. */
export function strictFailureMessage(
  problems: readonly string[],
  { kind, version }: { readonly kind: string; readonly version: string },
): string {
  return `${kind} in version ${quote(version)} cannot be handled as a ${kind}: strict decoding error: ${problems.join(", ")}`;
}
