// How the real server writes values into its messages: Go's quoting, Go's floats, Go's JSON.

import { isJsonArray, isJsonObject, JsonNumber, type Json } from "@keelson/base";

/** A string in double quotes, as Go's `%q` writes it. */
export function goQuote(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += quotedCharacter(character);
  return `${quoted}"`;
}

const plain = /^[ !#-[\]-~]*$/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const shortEscapes = new Map([
  ["\\", "\\\\"],
  ['"', '\\"'],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);

function quotedCharacter(character: string): string {
  const short = shortEscapes.get(character);
  if (short !== undefined) return short;
  if (printable.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  // A lone surrogate reached the real server as the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}

/** A float as Go's `%v` writes it: an exponent below 1e-4 and from 1e6 on, with two digits at least. */
export function goFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e6) return String(value);
  const [mantissa = "", exponent = ""] = value.toExponential().split("e");
  const digits = exponent.slice(1).padStart(2, "0");
  return `${mantissa}e${exponent.slice(0, 1)}${digits}`;
}

/** A value as Go's `json.Marshal` writes it: keys in byte order, `<`, `>` and `&` escaped. */
export function goJson(value: Json): string {
  const pieces: string[] = [];
  // A stack of its own: a value may be nested more deeply than calls may be.
  const pending: (Json | Literal)[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next instanceof Literal) {
      pieces.push(next.text);
    } else if (isJsonArray(next)) {
      pieces.push("[");
      pending.push(new Literal("]"));
      for (let index = next.length - 1; index >= 0; index--) {
        pending.push(next[index] ?? null);
        if (index > 0) pending.push(new Literal(","));
      }
    } else if (isJsonObject(next)) {
      pieces.push("{");
      pending.push(new Literal("}"));
      const keys = Object.keys(next).sort(compareBytes);
      for (let index = keys.length - 1; index >= 0; index--) {
        const key = keys[index] ?? "";
        pending.push(next[key] ?? null, new Literal(`${index > 0 ? "," : ""}${jsonString(key)}:`));
      }
    } else {
      pieces.push(scalarJson(next));
    }
  }
  return pieces.join("");
}

class Literal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function scalarJson(value: null | boolean | number | bigint | JsonNumber | string): string {
  if (typeof value === "string") return jsonString(value);
  return value instanceof JsonNumber ? String(Number(value.text)) : String(value);
}

const htmlOrSeparator = /[<>&\u2028\u2029]/g;
const loneSurrogate = /\\u(d[89a-f][0-9a-f]{2})/g;

function jsonString(text: string): string {
  return JSON.stringify(text)
    .replace(htmlOrSeparator, (found) => `\\u${hex(found.charCodeAt(0), 4)}`)
    .replace(loneSurrogate, "\\ufffd");
}

/** Compares strings as Go does, by their UTF-8 bytes; UTF-16 units differ outside the BMP. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) {
      const isLeftSurrogate = left >= 0xd800 && left <= 0xdfff;
      const isRightSurrogate = right >= 0xd800 && right <= 0xdfff;
      if (isLeftSurrogate !== isRightSurrogate) return isLeftSurrogate ? 1 : -1;
      return left - right;
    }
  }
  return a.length - b.length;
}
