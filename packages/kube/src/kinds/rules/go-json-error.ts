// Why a text is no JSON, in the words of Go's decoder: annotations and secrets hold JSON that is read late.

import { isJsonArray, isJsonObject, JsonSyntaxError, readJson, type Json } from "@keelson/base";

import { quote } from "../../go-text/quote.ts";

/** What is wrong with the text; undefined if it is JSON. */
export function goJsonError(text: string): string | undefined {
  try {
    readJson(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return new Scanner(text).problem() ?? "invalid character";
  }
}

/** The value of a text that is JSON. */
export function parseGoJson(text: string): Json {
  return readJson(text);
}

/** What Go's decoder calls a value that it did not want. */
export function goTypeOf(value: Json): string {
  if (isJsonArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "number";
}

/** Walks over JSON as Go's scanner does, up to the first thing that is wrong. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  problem(): string | undefined {
    return this.#value() ?? this.#end();
  }

  #end(): string | undefined {
    this.#space();
    if (this.#at >= this.#text.length) return undefined;
    return this.#unexpected("after top-level value");
  }

  #value(): string | undefined {
    this.#space();
    const first = this.#text[this.#at];
    if (first === undefined) return "unexpected end of JSON input";
    if (first === "{") return this.#object();
    if (first === "[") return this.#array();
    if (first === '"') return this.#string();
    if (first === "-" || (first >= "0" && first <= "9")) return this.#number();
    const word = { t: "true", f: "false", n: "null" }[first];
    return word === undefined
      ? this.#unexpected("looking for beginning of value")
      : this.#word(word);
  }

  #object(): string | undefined {
    this.#at += 1;
    this.#space();
    if (this.#text[this.#at] === "}") {
      this.#at += 1;
      return undefined;
    }
    for (;;) {
      this.#space();
      if (this.#at >= this.#text.length) return "unexpected end of JSON input";
      if (this.#text[this.#at] !== '"') {
        return this.#unexpected("looking for beginning of object key string");
      }
      const wrong = this.#string() ?? this.#step(":", "after object key") ?? this.#value();
      if (wrong !== undefined) return wrong;
      this.#space();
      if (this.#text[this.#at] === "}") break;
      const missing = this.#step(",", "after object key:value pair");
      if (missing !== undefined) return missing;
    }
    this.#at += 1;
    return undefined;
  }

  #array(): string | undefined {
    this.#at += 1;
    this.#space();
    if (this.#text[this.#at] === "]") {
      this.#at += 1;
      return undefined;
    }
    for (;;) {
      const wrong = this.#value();
      if (wrong !== undefined) return wrong;
      this.#space();
      if (this.#text[this.#at] === "]") break;
      const missing = this.#step(",", "after array element");
      if (missing !== undefined) return missing;
    }
    this.#at += 1;
    return undefined;
  }

  #string(): string | undefined {
    this.#at += 1;
    for (;;) {
      const next = this.#text[this.#at];
      if (next === undefined) return "unexpected end of JSON input";
      if (next === '"') {
        this.#at += 1;
        return undefined;
      }
      if (next < " ") return this.#unexpected("in string literal");
      if (next === "\\") {
        this.#at += 1;
        const escape = this.#text[this.#at];
        if (escape === undefined || !'"\\/bfnrtu'.includes(escape))
          return this.#unexpected("in string escape code");
        const wrong = escape === "u" ? this.#hexadecimal() : undefined;
        if (wrong !== undefined) return wrong;
      }
      this.#at += 1;
    }
  }

  /** The four digits after `\\u`. */
  #hexadecimal(): string | undefined {
    for (let digits = 0; digits < 4; digits++) {
      this.#at += 1;
      if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? "")) {
        return this.#unexpected("in \\u hexadecimal character escape");
      }
    }
    return undefined;
  }

  #number(): string | undefined {
    if (this.#text[this.#at] === "-") {
      this.#at += 1;
      const wrong = this.#digit("in numeric literal");
      if (wrong !== undefined) return wrong;
    }
    if (this.#text[this.#at] === "0") this.#at += 1;
    else this.#digits();
    if (this.#text[this.#at] === ".") {
      this.#at += 1;
      const wrong = this.#digit("after decimal point in numeric literal");
      if (wrong !== undefined) return wrong;
      this.#digits();
    }
    if (/[eE]/.test(this.#text[this.#at] ?? "")) {
      this.#at += 1;
      if (/[+-]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
      const wrong = this.#digit("in exponent of numeric literal");
      if (wrong !== undefined) return wrong;
      this.#digits();
    }
    return undefined;
  }

  #digit(where: string): string | undefined {
    const next = this.#text[this.#at] ?? " ";
    return next >= "0" && next <= "9" ? undefined : this.#unexpected(where);
  }

  #digits(): void {
    while (/[0-9]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #word(word: string): string | undefined {
    for (const letter of word) {
      if (this.#text[this.#at] !== letter)
        return this.#unexpected(`in literal ${word} (expecting '${letter}')`);
      this.#at += 1;
    }
    return undefined;
  }

  #step(expected: string, where: string): string | undefined {
    this.#space();
    const next = this.#text[this.#at];
    if (next === undefined) return "unexpected end of JSON input";
    if (next !== expected) return this.#unexpected(where);
    this.#at += 1;
    return undefined;
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #unexpected(where: string): string {
    // At the end of the text Go's scanner sees a space.
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 32);
    return `invalid character ${quoteCharacter(character)} ${where}`;
  }
}

function quoteCharacter(character: string): string {
  if (character === "'") return "'\\''";
  if (character === '"') return "'\"'";
  return `'${quote(character).slice(1, -1)}'`;
}
