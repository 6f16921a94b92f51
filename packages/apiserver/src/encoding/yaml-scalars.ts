// What a scalar of YAML means to Go's reader: YAML 1.1, without its numbers of base 60.

import { JsonNumber, type MutableJson } from "@keelson/base";

/** A scalar that does not fit its tag, or JSON, in Go's words. */
export class BadScalar extends Error {
  readonly code = "BAD_SCALAR";
  override readonly name = "BadScalar";
}

/** Whatever was said of a scalar besides its text. */
export interface SaidOfScalar {
  /** As it stands there, `!!int`; empty if none does. */
  readonly tag: string;
  /** Whether it stands there without quotes, in a line: only then its text tells its type. */
  readonly isPlain: boolean;
}

/** The value of a scalar. Throws a `BadScalar`. */
export function scalarValue(text: string, { tag, isPlain }: SaidOfScalar): MutableJson {
  if (tag === "") return isPlain ? plainValue(text) : text;
  const name = shortTag(tag);
  if (name === "!!binary") return binaryValue(text);
  if (name === "!!str" || name === "!!timestamp" || !typed.has(name)) return text;
  const value = plainValue(text);
  const found = typeOf(value, text);
  if (found !== name && !(name === "!!float" && found === "!!int")) {
    throw new BadScalar(`yaml: cannot decode ${found} \`${text}\` as a ${name}`);
  }
  return value;
}

const typed = new Set(["!!bool", "!!int", "!!float", "!!null"]);
const longPrefix = "!<tag:yaml.org,2002:";

function shortTag(tag: string): string {
  return tag.startsWith(longPrefix) ? `!!${tag.slice(longPrefix.length, -1)}` : tag;
}

function binaryValue(text: string): string {
  const packed = text.replaceAll(/[\r\n]/g, "");
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
    throw new BadScalar("yaml: !!binary value contains invalid base64 data");
  }
  return Buffer.from(packed, "base64").toString();
}

function typeOf(value: MutableJson, text: string): string {
  if (value === null) return "!!null";
  if (typeof value === "boolean") return "!!bool";
  if (typeof value === "string") return "!!str";
  return integerValue(text.replaceAll("_", "")) === undefined ? "!!float" : "!!int";
}

const words = new Map<string, boolean | null>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map(
    (word): [string, boolean] => [word, true],
  ),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map(
    (word): [string, boolean] => [word, false],
  ),
  ...["", "~", "null", "Null", "NULL"].map((word): [string, null] => [word, null]),
]);
const wordMax = 5;
const noNumbers = /^(?:\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/;
const floats = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function plainValue(text: string): MutableJson {
  if (text.length <= wordMax) {
    const word = words.get(text);
    if (word !== undefined) return word;
  }
  const first = text.charCodeAt(0);
  const isDigit = first >= 0x30 && first <= 0x39;
  const isSign = first === 0x2b || first === 0x2d;
  if (!isDigit && !isSign && first !== 0x2e) return text;
  if (noNumbers.test(text)) throw new BadScalar(`json: unsupported value: ${goNumber(text)}`);
  // What begins with a dot is taken as it stands: no underscores.
  const plain = first === 0x2e ? text : text.replaceAll("_", "");
  const integer = integerValue(plain);
  if (integer !== undefined) return integer;
  return floats.test(plain) ? floatValue(Number(plain), plain) : text;
}

function goNumber(text: string): string {
  if (text.toLowerCase() === ".nan") return "NaN";
  return text.startsWith("-") ? "-Inf" : "+Inf";
}

const digitsMax = 66;
const safeDigits = /^[-+]?(?:0|[1-9][0-9]{0,14})$/;
const integers = /^([-+]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/;

/** In any base that its prefix says, within 64 bits, with or without a sign. */
function integerValue(text: string): number | bigint | undefined {
  if (safeDigits.test(text)) return Number(text) + 0;
  const [, sign, digits = ""] = integers.exec(text) ?? [];
  // Longer ones have more than 64 bits, and reading them takes time.
  if (sign === undefined || digits.length > digitsMax) return undefined;
  const magnitude = BigInt(digits.replace(/^0[oO]?(?=[0-7])/, "0o"));
  const value = sign === "-" ? -magnitude : magnitude;
  const fits = sign === "" ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);
  if (fits !== value) return undefined;
  // What has 64 bits without a sign becomes a float when the JSON is read.
  const isSigned = BigInt.asIntN(64, value) === value;
  return isSigned && !Number.isSafeInteger(Number(value)) ? value : Number(value);
}

function floatValue(value: number, text: string): MutableJson {
  // Beyond every double, Go's reader finds no number.
  if (!Number.isFinite(value)) return text;
  // As Go writes a float that was read from YAML.
  return Number.isInteger(value) && Math.abs(value) >= 1e21
    ? new JsonNumber(value.toExponential())
    : value;
}
