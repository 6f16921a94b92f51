// Values without structure, as Go reads and prints them.

import { isJsonArray, JsonNumber, type Json, type MutableJson } from "@keelson/base";

import { decodeBase64, encodeBase64 } from "../go-text/base64.ts";
import { jsonTypeName } from "../go-text/json-type-name.ts";
import type { Scalar } from "../kinds/go-struct.ts";
import type { DecodeState } from "./decode-state.ts";

/** Reads a value that is not null. What it returns after noting a problem does not matter. */
export type Decode = (value: Json, state: DecodeState) => MutableJson;

/** A value as the message about a number calls it: `number 1.5`, or its type if it is none. */
export function numberName(value: Json): string {
  if (typeof value === "number" || typeof value === "bigint") return `number ${value}`;
  return value instanceof JsonNumber ? `number ${value.text}` : jsonTypeName(value);
}

/** The reader of a scalar that Go calls `goType`. */
export function scalarDecoder(scalar: Scalar, goType: string): Decode {
  switch (scalar) {
    case "string":
      return stringDecoder(goType);
    case "bool":
      return (value, state) => {
        if (typeof value === "boolean") return value;
        state.noteMismatch(jsonTypeName(value), goType);
        return false;
      };
    case "int32":
      return integerDecoder(goType, { min: -(2 ** 31), max: 2 ** 31 - 1 });
    case "uint8":
      return integerDecoder(goType, { min: 0, max: 255 });
    case "int64":
      return integerDecoder(goType, { min: -Infinity, max: Infinity });
    case "float64":
      return floatDecoder(goType);
    case "bytes":
      return bytesDecoder(goType);
    case "any":
      return (value) => value as MutableJson;
  }
}

/** What a scalar is that nobody has set. */
export function zeroScalar(scalar: Scalar): MutableJson {
  switch (scalar) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "uint8":
    case "float64":
      return 0;
    case "bytes":
    case "any":
      return null;
  }
}

/** Go's strings are UTF-8: half a surrogate pair becomes the replacement character. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

function stringDecoder(goType: string): Decode {
  return (value, state) => {
    if (typeof value === "string") return wellFormed(value);
    state.noteMismatch(jsonTypeName(value), goType);
    return "";
  };
}

function integerDecoder(
  goType: string,
  { min, max }: { readonly min: number; readonly max: number },
): Decode {
  return (value, state) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) {
      return value;
    }
    if (typeof value === "bigint" && max === Infinity) return value;
    if (value instanceof JsonNumber && value.text === "-0") return 0;
    state.noteMismatch(numberName(value), goType);
    return 0;
  };
}

function floatDecoder(goType: string): Decode {
  return (value, state) => {
    const number = jsonTypeName(value) === "number" ? Number(value) : Number.NaN;
    // What has more digits than a double is printed with those it has.
    if (Number.isFinite(number)) return Object.is(number, -0) ? new JsonNumber("-0") : number;
    state.noteMismatch(numberName(value), goType);
    return 0;
  };
}

/** Base64, or, as for any list in Go, an array of numbers. */
function bytesDecoder(goType: string): Decode {
  const byte = integerDecoder("uint8", { min: 0, max: 255 });
  return (value, state) => {
    if (typeof value === "string") {
      const decoded = decodeBase64(value);
      if (typeof decoded === "string") return decoded;
      state.noteProblem(`illegal base64 data at input byte ${decoded}`);
      return "";
    }
    if (isJsonArray(value)) {
      const bytes = value.map((item) => (item === null ? 0 : (byte(item, state) as number)));
      return encodeBase64(Uint8Array.from(bytes));
    }
    state.noteMismatch(jsonTypeName(value), goType);
    return "";
  };
}
