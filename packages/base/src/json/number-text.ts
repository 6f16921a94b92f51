// Which JavaScript value stands for the text of a number without losing any of it.

import { JsonNumber } from "./json.ts";

/** The value for the text of a number, which must follow the grammar of JSON. `Json` states the rules. */
export function numberFromText(text: string): number | bigint | JsonNumber {
  if (isExactNumber(text)) return Number(text);
  // Never a longer one: making a bigint of a million digits takes more than linear time.
  if (text.length <= int64CharactersMax && isInteger(text) && text !== "-0") {
    const integer = BigInt(text);
    if (integer === BigInt.asIntN(64, integer)) return integer;
  }
  // Copied: a slice of a document would keep all of the document in memory as long as the number lives.
  return new JsonNumber(JSON.parse(`"${text}"`) as string);
}

/** Whether the text of a number, right or not, is one that a JavaScript number gives back exactly. */
export function isExactNumber(text: string): boolean {
  const number = Number(text);
  if (String(number) !== text) return false;
  return Number.isSafeInteger(number) || !isInteger(text);
}

/** The length of -2^63. */
const int64CharactersMax = 20;

function isInteger(text: string): boolean {
  return !/[.eE]/.test(text);
}
