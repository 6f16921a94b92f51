import { isJsonArray, isJsonObject, JsonNumber, writeJson, type Json } from "@keelson/base";

import { compareBytes } from "./byte-order.ts";

/**
 * JSON as Go's encoder writes a decoded value: keys in byte order, `<`, `>`, `&` and two line separators escaped, and
 * floats in their shortest form, so `1.0` becomes `1`.
 */
export function goJson(value: Json): string {
  if (typeof value === "string") return goJsonString(value);
  if (value instanceof JsonNumber) return numberText(value);
  return isJsonArray(value) || isJsonObject(value) ? nestedJson(value) : String(value);
}

/** A JSON string as Go's encoder writes it. */
export function goJsonString(text: string): string {
  if (isPlain(text)) return `"${text}"`;
  // Go's decoder has replaced lone surrogates before its encoder sees the text.
  const plain = JSON.stringify(text.toWellFormed());
  return plain.replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape);
}

/** JSON that Go has not decoded, as its encoder passes it on: members and numbers as they were sent. */
export function goRawJson(value: Json): string {
  return writeJson(value).replaceAll(/[<>&\u2028\u2029]/g, unicodeEscape);
}

function nestedJson(value: Json): string {
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
        const comma = index > 0 ? "," : "";
        pending.push(next[key] ?? null, new Literal(`${comma}${goJsonString(key)}:`));
      }
    } else {
      pieces.push(goJson(next));
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

/** Go's encoder changes to an exponent where JavaScript does. Only it keeps the sign of a zero, if that is a float. */
function numberText({ text }: JsonNumber): string {
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  return Object.is(number, -0) && text !== "-0" ? "-0" : String(number);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Whether nothing in a short text needs escaping: so are almost all names, and this is quicker than to find out. */
function isPlain(text: string): boolean {
  if (text.length > 64) return false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Quotation mark, ampersand, less and greater than, backslash.
    if (unit < 32 || unit > 126 || unit === 34 || unit === 38) return false;
    if (unit === 60 || unit === 62 || unit === 92) return false;
  }
  return true;
}
