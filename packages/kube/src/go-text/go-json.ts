import { isJsonArray, isJsonObject, JsonNumber, type Json } from "@keelson/base";

import { compareBytes } from "./byte-order.ts";

/** JSON as Go's encoder writes a map: keys in byte order, and `<`, `>`, `&` and two line separators escaped. */
export function goJson(value: Json): string {
  if (typeof value === "string") return goJsonString(value);
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (value instanceof JsonNumber) return value.text;
  if (isJsonArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort(compareBytes)
      .map((key) => `${goJsonString(key)}:${goJson(value[key] ?? null)}`);
    return `{${members.join(",")}}`;
  }
  return String(value);
}

/** A JSON string as Go's encoder writes it. */
export function goJsonString(text: string): string {
  if (isPlain(text)) return `"${text}"`;
  const plain = JSON.stringify(text);
  return /[<>&\u2028\u2029\ud800-\udfff]|\\u[dD]/.test(plain)
    ? plain
        .replaceAll(/[<>&\u2028\u2029]/g, (character) => unicodeEscape(character))
        .replaceAll(/\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g, "\u{fffd}")
    : plain;
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
