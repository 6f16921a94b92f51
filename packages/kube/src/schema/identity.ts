import { isJsonArray, isJsonObject, type Json } from "@keelson/base";
import { floatOf, kindOf, scalarText } from "./go-value.ts";

/**
 * The same text for values that are equal once decoded, as `valuesEqual` has it, and for no others. One that would be
 * longer than `lengthMax` is cut, and then that of no value. Any depth will do.
 */
export function identityOf(value: Json, lengthMax = Infinity): string {
  let text = "";
  const pending: (Json | Mark)[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (text.length > lengthMax) break;
    if (next instanceof Mark) {
      text += next.text;
    } else if (isJsonArray(next)) {
      text += `[${next.length}`;
      if (next.length > lengthMax) break;
      for (let index = next.length - 1; index >= 0; index--) {
        pending.push(next[index] ?? null, comma);
      }
    } else if (isJsonObject(next)) {
      const names = Object.keys(next);
      text += `{${names.length}`;
      if (isLonger(names, lengthMax)) break;
      names.sort();
      for (let index = names.length - 1; index >= 0; index--) {
        const name = names[index] ?? "";
        pending.push(next[name] ?? null, new Mark(`,${JSON.stringify(name)}:`));
      }
    } else {
      if (typeof next === "string" && next.length > lengthMax) break;
      text += scalarIdentity(next);
    }
  }
  return text;
}

class Mark {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const comma = new Mark(",");

/** Whether names are longer than that, all together; each counts for one more. */
function isLonger(names: readonly string[], lengthMax: number): boolean {
  let length = names.length;
  for (const name of names) {
    if (length > lengthMax) break;
    length += name.length;
  }
  return length > lengthMax;
}

function scalarIdentity(value: Json): string {
  if (typeof value === "string") return JSON.stringify(value);
  // Zero has no sign here.
  return kindOf(value) === "number" ? `float ${floatOf(value) + 0}` : scalarText(value);
}
