// Conversions between types, sizes and types themselves.

import { characterCount } from "../schema/character-count.ts";
import { printFloat } from "../go-text/go-print.ts";
import { durationOf } from "../time/duration.ts";
import { CelError } from "./cel-error.ts";
import { fn, method, paramA, paramB, textCost, type Overload } from "./overload.ts";
import { floorDiv, formatTimestamp, parseTimestamp } from "./timestamps.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  quantity,
  string,
  timestamp,
  uint,
  type CelType,
} from "./cel-type.ts";
import {
  Duration,
  List,
  Optional,
  QuantityValue,
  Struct,
  Timestamp,
  TypeValue,
  Uint,
  ValueMap,
  type Value,
} from "./values.ts";

function cannotConvert(to: string): CelError {
  return new CelError(`type conversion error from 'string' to '${to}'`);
}

function parseInteger(text: string, { isSigned }: { readonly isSigned: boolean }): bigint {
  const pattern = isSigned ? /^[+-]?[0-9]{1,30}$/ : /^[0-9]{1,30}$/;
  const value = pattern.test(text) ? BigInt(text) : undefined;
  const fits =
    value !== undefined &&
    value === (isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
  if (!fits) throw cannotConvert(isSigned ? "int" : "uint");
  return value;
}

function truncate(value: number, { isSigned }: { readonly isSigned: boolean }): bigint {
  const limit = isSigned ? 2 ** 63 : 2 ** 64;
  const isInRange = value < limit && (isSigned ? value > -limit : value >= 0);
  if (!isInRange) throw new CelError(isSigned ? "integer overflow" : "unsigned integer overflow");
  return BigInt(Math.trunc(value));
}

const trueTexts = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const falseTexts = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function parseBool(text: string): boolean {
  if (trueTexts.has(text)) return true;
  if (falseTexts.has(text)) return false;
  throw cannotConvert("bool");
}

function parseDouble(text: string): number {
  const pattern =
    /^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)$/i;
  if (!pattern.test(text)) throw cannotConvert("double");
  if (/nan/i.test(text)) return Number.NaN;
  if (/inf/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text);
}

function secondsText(nanos: bigint): string {
  const magnitude = nanos < 0n ? -nanos : nanos;
  const fraction = String(magnitude % 1_000_000_000n)
    .padStart(9, "0")
    .replace(/0+$/, "");
  const whole = `${nanos < 0n ? "-" : ""}${magnitude / 1_000_000_000n}`;
  return `${whole}${fraction === "" ? "" : `.${fraction}`}s`;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(value: Uint8Array): string {
  try {
    return utf8.decode(value);
  } catch {
    throw new CelError("invalid UTF-8 in bytes, cannot convert to string");
  }
}

function readDuration(text: string): Duration {
  const nanos = durationOf(text);
  if (nanos === undefined) throw cannotConvert("google.protobuf.Duration");
  return new Duration(nanos);
}

function readTimestamp(text: string): Timestamp {
  const nanos = parseTimestamp(text);
  if (nanos === undefined) throw cannotConvert("google.protobuf.Timestamp");
  return new Timestamp(nanos);
}

/** From the year 1 to the year 9999. */
function timestampOf(seconds: bigint): Timestamp {
  if (seconds < -62_135_596_800n || seconds > 253_402_300_799n)
    throw new CelError("timestamp overflow");
  return new Timestamp(seconds * 1_000_000_000n);
}

const signed = { isSigned: true };
const unsigned = { isSigned: false };

const casts: readonly Overload[] = [
  fn("int", [int], int, ([value]) => value ?? null),
  fn("int", [uint], int, ([value]) => {
    const integer = (value as Uint).value;
    if (integer !== BigInt.asIntN(64, integer)) throw new CelError("integer overflow");
    return integer;
  }),
  fn("int", [double], int, ([value]) => truncate(value as number, signed)),
  fn("int", [string], int, ([value]) => parseInteger(value as string, signed)),
  fn("int", [timestamp], int, ([value]) => floorDiv((value as Timestamp).nanos, 1_000_000_000n)),
  fn("int", [duration], int, ([value]) => (value as Duration).nanos),
  fn("uint", [uint], uint, ([value]) => value ?? null),
  fn("uint", [int], uint, ([value]) => {
    if ((value as bigint) < 0n) throw new CelError("unsigned integer overflow");
    return new Uint(value as bigint);
  }),
  fn("uint", [double], uint, ([value]) => new Uint(truncate(value as number, unsigned))),
  fn("uint", [string], uint, ([value]) => new Uint(parseInteger(value as string, unsigned))),
  fn("double", [double], double, ([value]) => value ?? null),
  fn("double", [int], double, ([value]) => Number(value)),
  fn("double", [uint], double, ([value]) => Number((value as Uint).value)),
  fn("double", [string], double, ([value]) => parseDouble(value as string)),
  fn("bool", [bool], bool, ([value]) => value ?? null),
  fn("bool", [string], bool, ([value]) => parseBool(value as string)),
  fn("string", [string], string, ([value]) => value ?? null),
  fn("string", [bool], string, ([value]) => String(value === true)),
  fn("string", [int], string, ([value]) => (typeof value === "bigint" ? String(value) : "")),
  fn("string", [uint], string, ([value]) => String((value as Uint).value)),
  fn("string", [double], string, ([value]) => printFloat(value as number)),
  fn("string", [bytes], string, ([value]) => decode(value as Uint8Array)),
  fn("string", [duration], string, ([value]) => secondsText((value as Duration).nanos)),
  fn("string", [timestamp], string, ([value]) => formatTimestamp((value as Timestamp).nanos)),
  fn("bytes", [bytes], bytes, ([value]) => value ?? null),
  fn("bytes", [string], bytes, ([value], spend) => {
    spend(textCost(value as string));
    return new TextEncoder().encode(value as string);
  }),
  fn("duration", [duration], duration, ([value]) => value ?? null),
  fn("duration", [string], duration, ([value]) => readDuration(value as string)),
  fn("timestamp", [timestamp], timestamp, ([value]) => value ?? null),
  fn("timestamp", [string], timestamp, ([value]) => readTimestamp(value as string)),
  fn("timestamp", [int], timestamp, ([value]) => timestampOf(value as bigint)),
  fn(
    "type",
    [paramA],
    { kind: "type", of: paramA },
    ([value]) => new TypeValue(typeOf(value ?? null)),
  ),
];

/** The type of a value. Lists and maps do not say of what. */
function typeOf(value: Value): CelType {
  if (typeof value === "boolean") return bool;
  if (typeof value === "bigint") return int;
  if (typeof value === "number") return double;
  if (typeof value === "string") return string;
  if (value === null) return nullType;
  if (value instanceof Uint8Array) return bytes;
  if (value instanceof Uint) return uint;
  if (value instanceof Duration) return duration;
  if (value instanceof Timestamp) return timestamp;
  if (value instanceof QuantityValue) return quantity;
  if (value instanceof List) return listOf(dyn);
  if (value instanceof ValueMap) return mapOf(dyn, dyn);
  if (value instanceof Optional) return optionalOf(dyn);
  if (value instanceof Struct) return { kind: "object", name: "object", fields: new Map() };
  return { kind: "type", of: dyn };
}

const sizeArguments: readonly (readonly [CelType, (value: Value) => number])[] = [
  [string, (value) => characterCount(value as string)],
  [bytes, (value) => (value as Uint8Array).length],
  [listOf(paramA), (value) => (value as List).length],
  [mapOf(paramA, paramB), (value) => (value as ValueMap).entries.size],
];

const sizes: readonly Overload[] = sizeArguments.flatMap(([type, sizeOf]) => {
  const run: Overload["run"] = ([value], spend) => {
    if (typeof value === "string") spend(textCost(value));
    return BigInt(sizeOf(value ?? null));
  };
  return [fn("size", [type], int, run), method("size", [type], int, run)];
});

export const conversions: readonly Overload[] = [...casts, ...sizes];
