// Types that read and print themselves: times, quantities and the like.

import { cloneJson, isJsonArray, isJsonObject, JsonNumber, setMember } from "@keelson/base";
import type { Json, MutableJson, MutableJsonObject } from "@keelson/base";

import { goJson } from "../go-text/go-json.ts";
import { jsonTypeName } from "../go-text/json-type-name.ts";
import { trimSpace } from "../go-text/trim-space.ts";
import { BadQuantity, parseQuantity, printQuantity } from "../quantity/quantity.ts";
import { BadDuration, parseDuration, printDuration } from "../time/duration.ts";
import { BadTime, isZeroTime, parseMicroTime, parseTime } from "../time/time.ts";
import { printMicroTime, printTime } from "../time/time.ts";
import { TypedDecodeError } from "./decode-error.ts";
import { DecodeState } from "./decode-state.ts";
import { numberName, wellFormed, type Decode } from "./scalars.ts";

/** How a type reads itself, and what it prints when nobody has set it. */
interface OpaqueType {
  readonly decode: Decode;
  readonly zero: MutableJson;
}

/** What the schemas inside a CustomResourceDefinition are decoded with. */
interface SchemaDecoder {
  readonly schema: Decode;
}

/** The opaque type of that name. */
export function opaqueType(name: string, inner: SchemaDecoder): OpaqueType | undefined {
  switch (name) {
    case "meta.v1.Time":
      return { decode: decodeTime, zero: null };
    case "meta.v1.MicroTime":
      return { decode: decodeMicroTime, zero: null };
    case "meta.v1.Duration":
      return { decode: decodeDuration, zero: "0s" };
    case "quantity.Quantity":
      return { decode: decodeQuantity, zero: "0" };
    case "intstr.IntOrString":
      return { decode: decodeIntOrString, zero: 0 };
    case "runtime.RawExtension":
    case "meta.v1.FieldsV1":
      return { decode: (value) => cloneJson(value), zero: null };
    case "apiextensions.v1.JSON":
      return { decode: anyValue, zero: null };
    case "apiextensions.v1.JSONSchemaPropsOrArray":
      return { decode: (value, state) => schemaOrArray(value, state, inner), zero: null };
    case "apiextensions.v1.JSONSchemaPropsOrBool":
      return { decode: (value, state) => schemaOrBool(value, state, inner), zero: false };
    case "apiextensions.v1.JSONSchemaPropsOrStringArray":
      return { decode: (value, state) => schemaOrStrings(value, state, inner), zero: null };
    default:
      return undefined;
  }
}

function decodeTime(value: Json, state: DecodeState): MutableJson {
  const text = textOf(value, state);
  if (canonicalTime.test(text) && isCalendarDay(text)) return text;
  const time = refusing(BadTime, () => parseTime(text));
  return isZeroTime(time) ? null : printTime(time);
}

/** Almost every time is one that we, or another server, have printed. */
const canonicalTime =
  /^(?!0001)\d{4}-(?:0[1-9]|1[0-2])-[0-2]\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

function isCalendarDay(text: string): boolean {
  const day = text.slice(8, 10);
  return day !== "00" && day !== "29";
}

function decodeMicroTime(value: Json, state: DecodeState): MutableJson {
  const text = textOf(value, state);
  const time = refusing(BadTime, () => parseMicroTime(text));
  return isZeroTime(time) ? null : printMicroTime(time);
}

function decodeDuration(value: Json, state: DecodeState): MutableJson {
  const text = textOf(value, state);
  return printDuration(refusing(BadDuration, () => parseDuration(text)));
}

const plainQuantity = /^[1-9]\d{0,2}(?:m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;

function decodeQuantity(value: Json): MutableJson {
  // Short ones that are their own canonical form need no arithmetic.
  if (typeof value === "string" && plainQuantity.test(value)) return value;
  return refusing(BadQuantity, () => printQuantity(parseQuantity(quantityText(value))));
}

/** Go looks at the text of the value between its quotes, whatever value that is. */
function quantityText(value: Json): string {
  if (typeof value === "string") return trimSpace(goJson(value).slice(1, -1));
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return value instanceof JsonNumber ? value.text : "";
}

function decodeIntOrString(value: Json, state: DecodeState): MutableJson {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value === "number" && (value | 0) === value) return value;
  if (value instanceof JsonNumber && value.text === "-0") return 0;
  throw state.mismatch({ value: numberName(value), type: "int32", field: "" });
}

/** Any value, read and printed again: numbers and texts are Go's afterwards. */
function anyValue(value: Json, state: DecodeState): MutableJson {
  if (typeof value === "string") return wellFormed(value);
  if (value instanceof JsonNumber) return anyNumber(value, state);
  if (isJsonArray(value)) return value.map((item) => anyValue(item, state));
  if (!isJsonObject(value)) return value;
  const copy: MutableJsonObject = {};
  for (const key of Object.keys(value)) {
    setMember(copy, wellFormed(key), anyValue(value[key] ?? null, state));
  }
  return copy;
}

function anyNumber({ text }: JsonNumber, state: DecodeState): MutableJson {
  const number = Number(text);
  if (text === "-0") return 0;
  if (Number.isFinite(number)) return Object.is(number, -0) ? new JsonNumber("-0") : number;
  const mismatch = { value: `number ${text}`, type: "float64", struct: "", field: "" };
  state.noteLate(new TypedDecodeError(mismatch));
  return 0;
}

function schemaOrArray(value: Json, state: DecodeState, { schema }: SchemaDecoder): MutableJson {
  if (isJsonObject(value)) return alone(state, (inner) => schema(value, inner));
  if (!isJsonArray(value) || value.length === 0) return null;
  return alone(state, (inner) => value.map((item) => schema(item ?? {}, inner)));
}

function schemaOrBool(value: Json, state: DecodeState, { schema }: SchemaDecoder): MutableJson {
  if (isJsonObject(value)) return alone(state, (inner) => schema(value, inner));
  if (typeof value === "boolean") return value;
  throw new TypedDecodeError("boolean or JSON schema expected");
}

function schemaOrStrings(value: Json, state: DecodeState, { schema }: SchemaDecoder): MutableJson {
  if (isJsonObject(value)) return alone(state, (inner) => schema(value, inner));
  if (!isJsonArray(value) || value.length === 0) return null;
  return alone(state, (inner) =>
    value.map((item) => {
      if (typeof item === "string") return wellFormed(item);
      if (item !== null) inner.noteMismatch(jsonTypeName(item), "string");
      return "";
    }),
  );
}

/** Decodes a value as Go does in a decoder of its own: nothing unknown is reported, and wrong types end everything. */
function alone(state: DecodeState, decode: (inner: DecodeState) => MutableJson): MutableJson {
  const inner = new DecodeState();
  try {
    const decoded = decode(inner);
    inner.throwFirst();
    if (inner.late !== undefined) state.noteLate(inner.late);
    return decoded;
  } catch (error) {
    if (error instanceof TypedDecodeError && error.mismatch !== undefined) {
      throw state.mismatch(error.mismatch);
    }
    throw error;
  }
}

function textOf(value: Json, state: DecodeState): string {
  if (typeof value === "string") return wellFormed(value);
  throw state.mismatch({ value: jsonTypeName(value), type: "string", field: "" });
}

/** Runs a parser; its complaint ends the decoding. */
function refusing<T>(complaint: abstract new (message: string) => Error, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof complaint) throw new TypedDecodeError(error.message);
    throw error;
  }
}
