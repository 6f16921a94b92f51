// What Go's JSON reader says of a text that is no JSON.

import { quoteCharacter } from "./quote-character.ts";

/** The message for a text that is not one JSON document. Reads as far as the first thing that is wrong. */
export function goJsonSyntax(text: string): string {
  const scanner = new Scanner(text);
  return scanner.value() ?? scanner.end() ?? "unexpected end of JSON input";
}

/** Each step answers what is wrong, or undefined if it is well. Depth is kept in a list of its own. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** A whole value, whatever is nested in it. */
  value(): string | undefined {
    /** What must be closed, the innermost last. */
    const open: ("{" | "[")[] = [];
    for (;;) {
      const problem = this.#beginValue(open);
      if (problem === "opened") continue;
      if (problem !== undefined) return problem;
      for (;;) {
        const container = open.at(-1);
        if (container === undefined) return undefined;
        this.#skip();
        const next = this.#text[this.#at];
        if (next === undefined) return ended;
        if (next === (container === "{" ? "}" : "]")) {
          this.#at += 1;
          open.pop();
          continue;
        }
        if (next !== ",") {
          const where = container === "{" ? "after object key:value pair" : "after array element";
          return this.#unexpected(where);
        }
        this.#at += 1;
        const key = container === "{" ? this.#key() : undefined;
        if (key !== undefined) return key;
        break;
      }
    }
  }

  /** Nothing may follow. */
  end(): string | undefined {
    this.#skip();
    return this.#at < this.#text.length ? this.#unexpected("after top-level value") : undefined;
  }

  #beginValue(open: ("{" | "[")[]): string | undefined {
    this.#skip();
    const next = this.#text[this.#at];
    if (next === undefined) return ended;
    if (next === "{" || next === "[") {
      this.#at += 1;
      this.#skip();
      const close = next === "{" ? "}" : "]";
      if (this.#text[this.#at] === close) {
        this.#at += 1;
        return undefined;
      }
      open.push(next);
      if (next === "{") {
        const key = this.#key();
        if (key !== undefined) return key;
      }
      return "opened";
    }
    if (next === '"') return this.#string();
    if (next === "-" || (next >= "0" && next <= "9")) return this.#number();
    for (const word of ["true", "false", "null"]) {
      if (next === word[0]) return this.#word(word);
    }
    return this.#unexpected("looking for beginning of value");
  }

  #key(): string | undefined {
    this.#skip();
    const next = this.#text[this.#at];
    if (next === undefined) return ended;
    if (next !== '"') return this.#unexpected("looking for beginning of object key string");
    const problem = this.#string();
    if (problem !== undefined) return problem;
    this.#skip();
    if (this.#text[this.#at] === undefined) return ended;
    if (this.#text[this.#at] !== ":") return this.#unexpected("after object key");
    this.#at += 1;
    return undefined;
  }

  #string(): string | undefined {
    this.#at += 1;
    for (;;) {
      const next = this.#text[this.#at];
      if (next === undefined) return ended;
      if (next === '"') {
        this.#at += 1;
        return undefined;
      }
      if (next < " ") return this.#unexpected("in string literal");
      this.#at += 1;
      if (next !== "\\") continue;
      const escape = this.#text[this.#at] ?? " ";
      if (!'bfnrt\\/"u'.includes(escape)) return this.#unexpected("in string escape code");
      this.#at += 1;
      if (escape !== "u") continue;
      for (let digit = 0; digit < 4; digit += 1) {
        const hex = this.#text[this.#at] ?? " ";
        if (!/[0-9a-fA-F]/.test(hex))
          return this.#unexpected("in \\u hexadecimal character escape");
        this.#at += 1;
      }
    }
  }

  #number(): string | undefined {
    const digits = (): boolean => {
      const start = this.#at;
      while (/[0-9]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
      return this.#at > start;
    };
    if (this.#text[this.#at] === "-") this.#at += 1;
    if (this.#text[this.#at] === "0") this.#at += 1;
    else if (!digits()) return this.#unexpected("in numeric literal");
    if (this.#text[this.#at] === ".") {
      this.#at += 1;
      if (!digits()) return this.#unexpected("after decimal point in numeric literal");
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at += 1;
      if (/[+-]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
      if (!digits()) return this.#unexpected("in exponent of numeric literal");
    }
    return undefined;
  }

  #word(word: string): string | undefined {
    for (const [index, letter] of word.split("").entries()) {
      if (this.#text[this.#at] !== letter) {
        return this.#unexpected(
          `in literal ${word} (expecting ${quoteCharacter(word[index] ?? "")})`,
        );
      }
      this.#at += 1;
    }
    return undefined;
  }

  #skip(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #unexpected(where: string): string {
    // Go ends a text by reading a blank, which is no part of a number, a word or an escape.
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0x20);
    return `invalid character ${quoteCharacter(character)} ${where}`;
  }
}

const ended = "unexpected end of JSON input";
