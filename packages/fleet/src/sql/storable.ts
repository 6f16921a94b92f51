// A cluster may say what no column holds: a NUL, half of a surrogate pair, or a number beyond the bounds of the database.
// U+FFFD stands for each of the former, and its own text for such a number, so that one such object keeps nothing else of
// its cluster from being recorded. A version that is longer than its column is known by its digest. What users write is refused
// instead.

import { createHash } from "node:crypto";
import { writeJson, type Json } from "@keelson/base";

export function storableText(text: string | null): string | null {
  return text === null ? null : text.replaceAll("\0", "\u{FFFD}");
}

/** The characters that the columns of versions take. */
const versionMax = 100;

/** The version of an object. One that no server of Kubernetes' own has still differs from others. */
export function storableVersion(version: string): string {
  if (version.length <= versionMax) return storableText(version) ?? "";
  return `long:${createHash("sha256").update(version).digest("base64url")}`;
}

/** JSON as a column takes it. */
export function storableJson(value: Json): string {
  const text = writeJson(value);
  if (!mayBeStrange.test(text)) return text;
  let isInText = false;
  // Every escape is read, so that a backslash that is itself escaped begins none.
  return text.replace(/\\(?:u(?:0000|d[89a-f]..)|.)|"|-?\d[\d.eE+-]*/g, (token) => {
    if (token === '"') isInText = !isInText;
    else if (token.startsWith("\\")) return token.length > 2 ? "\u{FFFD}" : token;
    else if (!isInText && !isStorableNumber(token)) return `"${token}"`;
    return token;
  });
}

/** Almost nothing has such an escape, nor a number with as many digits, or with as large an exponent, as any of those has. */
const mayBeStrange = /\\u(?:0000|d[89a-f])|\d[eE][+-]?\d{4}|(?<!\d)\d{9999}/;

/** How many digits PostgreSQL keeps of a number, before the point and after it. */
const wholeDigitsMax = 131_072;
const fractionDigitsMax = 16_383;
/** The least exponent that it does not read, even of zero. */
const exponentUnread = 2 ** 30 - 1;

export function isStorableNumber(text: string): boolean {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(text) ?? [];
  if (fraction.length - Number(exponent) > fractionDigitsMax) return false;
  const digits = whole + fraction;
  const zeros = digits.length - digits.replace(/^0+/, "").length;
  if (zeros === digits.length) return Number(exponent) < exponentUnread;
  return whole.length - zeros + Number(exponent) <= wholeDigitsMax;
}
