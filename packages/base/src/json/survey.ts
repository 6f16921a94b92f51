// A cheap look at a whole text, to learn whether the platform's parser would lose anything of it.

import { isExactNumber } from "./number-text.ts";
import { stringEnd } from "./string-end.ts";

/** What is known of a text, provided that it is JSON at all. */
export interface Survey {
  /** How many members its objects have, counting every mention of a key. */
  readonly members: number;
  /** How deeply arrays and objects are nested. */
  readonly depth: number;
}

/**
 * Surveys a text that `JSON.parse` reads without loss, or refuses.
 *
 * `undefined` when it holds a number that a JavaScript number would not give back exactly, is nested more
 * deeply than `depthMax`, or has a string without an end.
 */
export function survey(text: string, depthMax: number): Survey | undefined {
  let members = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      at = stringEnd(text, at);
      if (at < 0) return undefined;
    } else if (unit === colon) {
      members++;
    } else if (unit === openBrace || unit === openBracket) {
      depth++;
      if (depth > deepest) deepest = depth;
      if (depth > depthMax) return undefined;
    } else if (unit === closeBrace || unit === closeBracket) {
      depth--;
    } else if (unit === minus || (unit >= zero && unit <= nine)) {
      const end = numberEnd(text, at);
      if (!isSmallInteger(text, at, end) && !isExactNumber(text.slice(at, end))) return undefined;
      at = end - 1;
    }
  }
  return { members, depth: deepest };
}

const quote = 0x22;
const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The end of what may belong to a number: whether it is one is for the parser to say. */
function numberEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= zero && unit <= nine) continue;
    if (unit === dot || unit === plus || unit === minus || unit === 0x65 || unit === 0x45) continue;
    return at;
  }
}

/** Whether it is nothing but at most 15 digits, as almost every number is. */
function isSmallInteger(text: string, start: number, end: number): boolean {
  if (end - start > 15) return false;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit < zero || unit > nine) return false;
  }
  return true;
}
