// Values of a query string, as the real server reads them.

import { failures } from "@keelson/kube";

/** A flag: whatever is there and does not say no. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}

/** A parameter that is an integer of 64 bits; undefined where there is none. Throws a `BadRequest`. */
export function integerIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const refuse = (why: string): Error =>
    failures.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw refuse("invalid syntax");
  const value = BigInt(text.replace(/^\+/, ""));
  if (BigInt.asIntN(64, value) !== value) throw refuse("value out of range");
  return Number(value);
}
