// Values of a query string, as the real server reads them.

import { failures, quote } from "@keelson/kube";

/** A flag: whatever is there and does not say no. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}

/** A parameter that is an integer, as the nearest number; undefined where there is none. Throws a `BadRequest`. */
export function integerIn(query: URLSearchParams, name: string): number | undefined {
  const value = longIntegerIn(query, name);
  return value === undefined ? undefined : Number(value);
}

/** The same with all its 64 bits. */
export function longIntegerIn(query: URLSearchParams, name: string): number | bigint | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const refuse = (why: string): Error =>
    failures.badRequest(`strconv.ParseInt: parsing ${quote(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw refuse("invalid syntax");
  const value = BigInt(text.replace(/^\+/, ""));
  if (BigInt.asIntN(64, value) !== value) throw refuse("value out of range");
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
