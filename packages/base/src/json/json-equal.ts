import { isJsonArray, isJsonObject, JsonNumber, type Json } from "./json.ts";

/**
 * Whether two values would be written alike, but for the order of keys.
 *
 * Numbers compare by their text: 1 and `JsonNumber("1.0")` differ, 1 and 1n do not. Members that are
 * `undefined` do not count. Depth does not overflow the stack.
 */
export function jsonEqual(a: Json, b: Json): boolean {
  const left: Json[] = [a];
  const right: Json[] = [b];
  while (left.length > 0) {
    if (!pairEqual(left.pop() ?? null, right.pop() ?? null, left, right)) return false;
  }
  return true;
}

/** Compares two values but for their items and members, which it leaves to be compared pairwise. */
function pairEqual(a: Json, b: Json, left: Json[], right: Json[]): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) {
    if (!isJsonArray(b) || a.length !== b.length) return false;
    for (const item of a) left.push(item);
    for (const item of b) right.push(item);
    return true;
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    let members = 0;
    for (const key of Object.keys(a)) {
      const value = a[key];
      if (value === undefined) continue;
      const other = Object.hasOwn(b, key) ? b[key] : undefined;
      if (other === undefined) return false;
      members++;
      left.push(value);
      right.push(other);
    }
    return members === Object.keys(b).filter((key) => b[key] !== undefined).length;
  }
  const text = numberText(a);
  return text !== undefined && text === numberText(b);
}

function numberText(value: Json): string | undefined {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return value instanceof JsonNumber ? value.text : undefined;
}
