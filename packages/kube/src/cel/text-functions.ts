// Functions of strings and patterns.

import { patternOf } from "../schema/pattern-cache.ts";
import { CelError } from "./cel-error.ts";
import { method, textCost, type Overload } from "./overload.ts";
import { bool, int, listOf, string } from "./cel-type.ts";
import { List, type Value } from "./values.ts";

const text = (value: Value | undefined): string => value as string;
/** Rules count code points. */
function charactersOf(value: string): string[] {
  return Array.from(value);
}

const place = (value: Value | undefined): number => Number(value);

function inBounds(index: number, low: number, high: number): number {
  if (index < low || index > high) throw new CelError(`index out of range: ${index}`);
  return index;
}

function search(characters: string[], wanted: string[], from: number, step: 1 | -1): number {
  const last = characters.length - wanted.length;
  for (let at = Math.min(from, step === 1 ? from : last); at >= 0 && at <= last; at += step) {
    if (wanted.every((character, offset) => characters[at + offset] === character)) return at;
  }
  return -1;
}

function indexOf(args: readonly Value[], step: 1 | -1): bigint {
  const characters = charactersOf(text(args[0]));
  const wanted = charactersOf(text(args[1]));
  const given = args[2] === undefined ? undefined : place(args[2]);
  if (given !== undefined) {
    if (wanted.length === 0) return BigInt(given);
    if (given < 0) throw new CelError(`index out of range: ${given}`);
    if (given >= characters.length) return -1n;
  }
  const from = given ?? (step === 1 ? 0 : characters.length);
  return BigInt(search(characters, wanted, from, step));
}

/** Bounded, because each step of a rule may only make so much more text. */
function replace(value: string, from: string, to: string, times: number): string {
  if (times === 0) return value;
  const parts = from === "" ? ["", ...charactersOf(value), ""] : value.split(from);
  if (times < 0 || times >= parts.length - 1) return parts.join(to);
  return parts.slice(0, times).join(to) + to + parts.slice(times).join(from);
}

function split(value: string, separator: string, limit: number): string[] {
  if (limit === 0) return [];
  const parts = separator === "" ? charactersOf(value) : value.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function strings(items: readonly string[]): List {
  return new List({ items });
}

const asciiLower = (value: string): string =>
  value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const asciiUpper = (value: string): string =>
  value.replace(/[a-z]/g, (letter) => letter.toUpperCase());
const space = String.raw`[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
/** Those at the end are looked for from the first of them only: many in the middle are many beginnings. */
const spaces = new RegExp(`^${space}+|(?<!${space})${space}+$`, "g");

function matchesOf(value: string, pattern: string, limit: number): string[] {
  const { findAll, error } = patternOf(pattern);
  if (findAll === undefined) throw new CelError(`Illegal regex: ${error}`);
  return findAll(value, limit < 0 ? Infinity : limit);
}

const matches: Overload["run"] = ([value, pattern], spend) => {
  spend(textCost(text(value)) * Math.max(1, Math.ceil(text(pattern).length / 4)));
  const known = patternOf(text(pattern));
  if (known.matches === undefined) throw new CelError(known.error);
  return known.matches(text(value));
};

export const textFunctions: readonly Overload[] = [
  method("contains", [string, string], bool, ([value, part], spend) => {
    spend(textCost(text(value)));
    return text(value).includes(text(part));
  }),
  method("startsWith", [string, string], bool, ([value, part], spend) => {
    spend(textCost(text(part)));
    return text(value).startsWith(text(part));
  }),
  method("endsWith", [string, string], bool, ([value, part], spend) => {
    spend(textCost(text(part)));
    return text(value).endsWith(text(part));
  }),
  method("matches", [string, string], bool, matches),
  { ...method("matches", [string, string], bool, matches), isMethod: false },
  method("find", [string, string], string, ([value, pattern], spend) => {
    spend(textCost(text(value)));
    return matchesOf(text(value), text(pattern), 1)[0] ?? "";
  }),
  method("findAll", [string, string], listOf(string), ([value, pattern], spend) => {
    spend(textCost(text(value)));
    return strings(matchesOf(text(value), text(pattern), -1));
  }),
  method("findAll", [string, string, int], listOf(string), ([value, pattern, limit], spend) => {
    spend(textCost(text(value)));
    return strings(matchesOf(text(value), text(pattern), place(limit)));
  }),
  method("charAt", [string, int], string, ([value, index]) => {
    const characters = charactersOf(text(value));
    return characters[inBounds(place(index), 0, characters.length)] ?? "";
  }),
  method("indexOf", [string, string], int, (args, spend) => {
    spend(textCost(text(args[0])));
    return indexOf(args, 1);
  }),
  method("indexOf", [string, string, int], int, (args) => indexOf(args, 1)),
  method("lastIndexOf", [string, string], int, (args, spend) => {
    spend(textCost(text(args[0])));
    return indexOf(args, -1);
  }),
  method("lastIndexOf", [string, string, int], int, (args) => indexOf(args, -1)),
  method("lowerAscii", [string], string, ([value], spend) => {
    spend(textCost(text(value)));
    return asciiLower(text(value));
  }),
  method("upperAscii", [string], string, ([value], spend) => {
    spend(textCost(text(value)));
    return asciiUpper(text(value));
  }),
  method("trim", [string], string, ([value], spend) => {
    spend(textCost(text(value)));
    return text(value).replace(spaces, "");
  }),
  method("replace", [string, string, string], string, ([value, from, to], spend) => {
    const made = replace(text(value), text(from), text(to), -1);
    spend(textCost(text(value), made));
    return made;
  }),
  method("replace", [string, string, string, int], string, ([value, from, to, times], spend) => {
    const made = replace(text(value), text(from), text(to), place(times));
    spend(textCost(text(value), made));
    return made;
  }),
  method("split", [string, string], listOf(string), ([value, separator], spend) => {
    spend(textCost(text(value)));
    return strings(split(text(value), text(separator), -1));
  }),
  method("split", [string, string, int], listOf(string), ([value, separator, limit], spend) => {
    spend(textCost(text(value)));
    return strings(split(text(value), text(separator), place(limit)));
  }),
  method("substring", [string, int], string, ([value, start]) => {
    const characters = charactersOf(text(value));
    return characters.slice(inBounds(place(start), 0, characters.length)).join("");
  }),
  method("substring", [string, int, int], string, ([value, start, end]) => {
    const characters = charactersOf(text(value));
    const to = inBounds(place(end), 0, characters.length);
    const from = inBounds(place(start), 0, characters.length);
    if (from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`);
    return characters.slice(from, to).join("");
  }),
  method("join", [listOf(string)], string, ([list]) => join(list as List, "")),
  method("join", [listOf(string), string], string, ([list, separator], spend) => {
    const joined = join(list as List, text(separator));
    spend(textCost(joined));
    return joined;
  }),
];

function join(list: List, separator: string): string {
  return (list.toArray() as string[]).join(separator);
}
