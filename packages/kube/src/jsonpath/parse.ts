// Paths into objects, in the dialect of kubectl and of printer columns: `.spec.ports[0].port`,
// `.status.conditions[?(@.type=="Ready")].status`, `..name`.

import { JsonNumber, type Json } from "@keelson/base";

import { isPrintable } from "../go-text/quote.ts";
import { integerJson } from "../schema/go-value.ts";
import { parseInteger } from "../selectors/label-selector.ts";

/** A path that cannot be read, or cannot be followed. */
export class JsonPathError extends Error {
  readonly code = "JSON_PATH";

  constructor(message: string) {
    super(message);
    this.name = "JsonPathError";
  }
}

/** One step of a path. */
export type Step =
  | { readonly op: "field"; readonly name: string }
  | { readonly op: "wildcard" }
  | { readonly op: "recurse" }
  | { readonly op: "slice"; readonly bounds: readonly [Bound, Bound, Bound] }
  | { readonly op: "union"; readonly paths: readonly (readonly Step[])[] }
  | {
      readonly op: "filter";
      readonly left: readonly Step[];
      readonly operator: string;
      readonly right: readonly Step[];
    }
  | { readonly op: "value"; readonly value: Json }
  /** A word that stands alone, which means nothing: that is told when the path is followed. */
  | { readonly op: "word"; readonly word: string };

/** A bound of a slice. `isDerived`: it follows from the first one, as in `[-1]`. */
export interface Bound {
  readonly value: number;
  readonly isKnown: boolean;
  readonly isDerived: boolean;
}

/** Reads a path, without the braces that templates put around it. Throws a `JsonPathError`. */
export function parseSteps(text: string): Step[] {
  return new Parser(text).parse();
}

const terminators = new Set([" ", "\t", "\r", "\n", ".", ",", "[", "]", "$", "@", "{", "}"]);
const slice = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/;
const depthMax = 32;

class Parser {
  readonly #text: string;
  readonly #depth: number;
  #at = 0;
  readonly #steps: Step[] = [];

  constructor(text: string, depth = 0) {
    if (depth > depthMax) throw new JsonPathError("filters are nested too deeply");
    this.#text = text;
    this.#depth = depth;
  }

  parse(): Step[] {
    while (this.#at < this.#text.length) this.#step();
    return this.#steps;
  }

  #nested(text: string): Step[] {
    return new Parser(text, this.#depth + 1).parse();
  }

  #step(): void {
    if (this.#text.startsWith("[?(", this.#at)) return this.#filter();
    if (this.#text.startsWith("..", this.#at)) return this.#recurse();
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    switch (character) {
      case " ":
      case "@":
      case "$":
        return;
      case "[":
        return this.#brackets();
      case '"':
      case "'":
        return this.#quote(character);
      case ".":
        return this.#field();
      case "\n":
      case "\r":
        throw new JsonPathError("unclosed action");
      case "}":
        throw new JsonPathError("unexpected end of the path");
      default:
    }
    if (/[+\-0-9]/.test(character)) return this.#number();
    if (/[\p{L}\p{N}_]/u.test(character)) {
      this.#at -= character.length;
      return this.#identifier();
    }
    throw new JsonPathError(`unrecognized character in action: ${codePoint(character)}`);
  }

  /** Text up to the next terminator; a backslash takes the next character along. */
  #word(): string {
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? "";
      if (character === "\\") this.#at++;
      else if (terminators.has(character)) break;
      this.#at++;
    }
    return this.#text.slice(start, this.#at);
  }

  #field(): void {
    const word = this.#word();
    if (word === "*") this.#steps.push({ op: "wildcard" });
    else this.#steps.push({ op: "field", name: word.replaceAll("\\", "") });
  }

  #recurse(): void {
    if (this.#steps.at(-1)?.op === "recurse") {
      throw new JsonPathError("invalid multiple recursive descent");
    }
    this.#at += 2;
    this.#steps.push({ op: "recurse" });
    if (/^[\p{L}\p{N}_]/u.test(this.#text.slice(this.#at))) this.#field();
  }

  #number(): void {
    const start = this.#at - 1;
    while (/[0-9.]/.test(this.#text[this.#at] ?? "")) this.#at++;
    const text = this.#text.slice(start, this.#at);
    const value = numberOf(text);
    if (value === undefined) throw new JsonPathError(`cannot parse number ${text}`);
    this.#steps.push({ op: "value", value });
  }

  #identifier(): void {
    const word = this.#word();
    const isFlag = word === "true" || word === "false";
    this.#steps.push(isFlag ? { op: "value", value: word === "true" } : { op: "word", word });
  }

  #quote(quote: string): void {
    let value = "";
    for (;;) {
      const character = this.#text[this.#at++];
      if (character === undefined || character === "\n") {
        throw new JsonPathError("unterminated quoted string");
      }
      if (character === quote) break;
      value += character === "\\" ? unescaped(this.#text[this.#at++] ?? "") : character;
    }
    this.#steps.push({ op: "value", value });
  }

  #brackets(): void {
    const end = this.#text.indexOf("]", this.#at);
    if (end < 0) throw new JsonPathError("unterminated array");
    const inside = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    const text = inside === "*" ? ":" : inside;
    const parts = text.split(",");
    if (parts.length > 1) {
      const paths = parts.map((part) => this.#nested(`[${part.replace(/^ +|(?<! ) +$/g, "")}]`));
      this.#steps.push({ op: "union", paths });
      return;
    }
    const key = /^'([^']*)'$/.exec(text);
    if (key !== null) {
      this.#steps.push(...this.#nested(`.${key[1] ?? ""}`));
      return;
    }
    const match = slice.exec(text);
    if (match === null) throw new JsonPathError(`invalid array index ${text}`);
    this.#steps.push({ op: "slice", bounds: boundsOf(match) });
  }

  #filter(): void {
    this.#at += 3;
    const start = this.#at;
    let quote: string | undefined;
    for (;;) {
      const character = this.#text[this.#at++];
      if (character === undefined || character === "\n") {
        throw new JsonPathError("unterminated filter");
      }
      if (quote === undefined && (character === '"' || character === "'")) quote = character;
      else if (character === quote && this.#text[this.#at - 2] !== "\\") quote = undefined;
      else if (character === ")" && quote === undefined) break;
    }
    const text = this.#text.slice(start, this.#at - 1);
    if (this.#text[this.#at++] !== "]") throw new JsonPathError("unclosed array expect ]");
    const match = /^([^!<>=]+)([!<>=]+)(.+?)$/s.exec(text);
    const [, left = text, operator = "exists", right = ""] = match ?? [];
    this.#steps.push({
      op: "filter",
      left: this.#nested(left),
      operator,
      right: match === null ? [] : this.#nested(right),
    });
  }
}

/** An integer if it is written as one and fits 64 bits, else a float, if it is one. */
function numberOf(text: string): Json | undefined {
  const integer = parseInteger(text);
  if (integer !== undefined) return integerJson(integer);
  const float = Number(text);
  return Number.isFinite(float) ? new JsonNumber(String(float)) : undefined;
}

/** Go's `%#U`: `U+0025 '%'`. */
function codePoint(character: string): string {
  const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return isPrintable(character) ? `U+${number} '${character}'` : `U+${number}`;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

function unescaped(letter: string): string {
  return escapes[letter] ?? letter;
}

function boundsOf(match: RegExpExecArray): readonly [Bound, Bound, Bound] {
  const [, first = "", second, third] = match;
  const known = (text: string): Bound => ({ value: Number(text), isKnown: true, isDerived: false });
  const unknown: Bound = { value: 0, isKnown: false, isDerived: false };
  const start = first === "" ? unknown : known(first);
  const bound = (part: string): Bound => (part === ":" ? unknown : known(part.slice(1)));
  const end =
    second === undefined
      ? { value: start.value + 1, isKnown: true, isDerived: true }
      : bound(second);
  return [start, end, third === undefined ? unknown : bound(third)];
}
