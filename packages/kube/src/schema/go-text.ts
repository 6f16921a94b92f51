// How the real server writes values into its messages: Go's quoting, Go's floats, Go's JSON.

import { isJsonArray, isJsonObject, JsonNumber, type Json } from "@keelson/base";
import { compareBytes } from "../go-text/byte-order.ts";

export { compareBytes } from "../go-text/byte-order.ts";
export { printFloat as goFloat } from "../go-text/go-print.ts";
export { quote as goQuote } from "../go-text/quote.ts";

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
    .replace(htmlOrSeparator, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(loneSurrogate, "\\ufffd");
}
