import { isJsonArray, isJsonObject, JsonNumber, type Json } from "./json.ts";

/**
 * Whether two values would be written alike, but for the order of keys.
 *
 * Numbers compare by their text: 1 and `JsonNumber("1.0")` differ, 1 and 1n do not. Members that are
 * `undefined` do not count. Depth does not overflow the stack.
 */
export function jsonEqual(a: Json, b: Json): boolean {
  return allEqual(a, b, numberText);
}

/** Whether two values mean the same: 100, `100.0` and `1e2` do, as they do to PostgreSQL. */
export function jsonSame(a: Json, b: Json): boolean {
  return allEqual(a, b, numberValue);
}

/** A text by which numbers compare; undefined for what is none. */
type NumberKey = (value: Json) => string | undefined;

function allEqual(a: Json, b: Json, keyOf: NumberKey): boolean {
  const left: Json[] = [a];
  const right: Json[] = [b];
  while (left.length > 0) {
    const pair = [left.pop() ?? null, right.pop() ?? null] as const;
    if (!pairEqual(pair, { left, right, keyOf })) return false;
  }
  return true;
}

/** Compares two values but for their items and members, which it leaves to be compared pairwise. */
function pairEqual(
  [a, b]: readonly [Json, Json],
  { left, right, keyOf }: { left: Json[]; right: Json[]; keyOf: NumberKey },
): boolean {
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
  const key = keyOf(a);
  return key !== undefined && key === keyOf(b);
}

function numberText(value: Json): string | undefined {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return value instanceof JsonNumber ? value.text : undefined;
}

/** The digits that count and the power of ten of the last one: the same for each text of a number. */
function numberValue(value: Json): string | undefined {
  const text = numberText(value);
  if (text === undefined) return undefined;
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = whole + fraction;
  let [first, end] = [0, digits.length];
  while (digits[first] === "0") first += 1;
  while (end > first && digits[end - 1] === "0") end -= 1;
  if (first === end) return "0";
  const power = BigInt(exponent) + BigInt(digits.length - end - fraction.length);
  return `${mantissa.startsWith("-") ? "-" : ""}${digits.slice(first, end)}e${power}`;
}
