// The parser for texts that the platform's would lose something of, and for those that it refuses: it says
// why. It keeps its own stack, so depth costs memory and never the process.

import { setMember, type MutableJson, type MutableJsonObject } from "./json.ts";
import { JsonSyntaxError } from "./json-syntax-error.ts";
import { numberFromText } from "./number-text.ts";
import { stringEnd } from "./string-end.ts";

export interface CarefulOptions {
  readonly depthMax: number;
  /** What an object that says a key twice means: an error, a line in the report, or nothing. */
  readonly duplicates: "refuse" | "report" | "last";
}

export interface CarefulResult {
  readonly value: MutableJson;
  /** The paths of keys said twice, each once, in the order of the text. */
  readonly duplicates: readonly string[];
  /** For each of them, how many different keys its object had when it was said again. */
  readonly membersBefore: readonly number[];
}

/** Reads a text, or throws a `JsonSyntaxError`. Takes linear time. */
export function parseCarefully(text: string, options: CarefulOptions): CarefulResult {
  return new CarefulParser(text, options).parse();
}

/** How many paths a report names: a text made of nothing else must not grow in our hands. */
const duplicatesMax = 100;

/** How many repetitions of keys a report looks at: making a path takes time, and so would naming one again and again. */
const repetitionsMax = 1_000;

/** How much of a key a path shows. */
const pathKeyCharactersMax = 200;

/** An array or object whose end has not been seen; an object waits for the value of `key`. */
type Frame =
  | { readonly array: MutableJson[]; readonly object?: never; key?: never }
  | { readonly array?: never; readonly object: MutableJsonObject; key: string };

class CarefulParser {
  readonly #text: string;
  readonly #options: CarefulOptions;
  readonly #frames: Frame[] = [];
  readonly #duplicates = new Map<string, number>();
  #repetitions = 0;
  #at = 0;

  constructor(text: string, options: CarefulOptions) {
    this.#text = text;
    this.#options = options;
  }

  parse(): CarefulResult {
    for (;;) {
      let value = this.#readValue();
      while (value !== undefined) {
        const frame = this.#frames.at(-1);
        if (frame === undefined) {
          if (this.#skipSpace() < this.#text.length) throw this.#expected("the end of the text");
          return {
            value,
            duplicates: [...this.#duplicates.keys()],
            membersBefore: [...this.#duplicates.values()],
          };
        }
        value = this.#attach(frame, value);
      }
    }
  }

  /** Reads a value; or opens an array or object, whose first value is due next, and returns `undefined`. */
  #readValue(): MutableJson | undefined {
    switch (this.#text[this.#skipSpace()]) {
      case '"':
        return this.#readString();
      case "{":
        return this.#openObject();
      case "[":
        return this.#openArray();
      case "t":
        return this.#readWord("true", true);
      case "f":
        return this.#readWord("false", false);
      case "n":
        return this.#readWord("null", null);
      case undefined:
      default:
        return this.#readNumber();
    }
  }

  /** Adds a value to its array or object. Returns that once it is complete, `undefined` if another value is due. */
  #attach(frame: Frame, value: MutableJson): MutableJson | undefined {
    if (frame.array !== undefined) frame.array.push(value);
    else setMember(frame.object, frame.key, value);

    const isArray = frame.array !== undefined;
    const unit = this.#text[this.#skipSpace()];
    if (unit === (isArray ? "]" : "}")) {
      this.#at++;
      this.#frames.pop();
      return frame.array ?? frame.object;
    }
    if (unit !== ",") throw this.#expected(isArray ? '"," or "]"' : '"," or "}"');
    this.#at++;
    if (frame.object !== undefined) {
      if (this.#text[this.#skipSpace()] !== '"') throw this.#expected("a key");
      this.#readKey(frame);
    }
    return undefined;
  }

  #openArray(): MutableJson[] | undefined {
    this.#checkDepth();
    this.#at++;
    if (this.#text[this.#skipSpace()] === "]") {
      this.#at++;
      return [];
    }
    this.#frames.push({ array: [] });
    return undefined;
  }

  #openObject(): MutableJsonObject | undefined {
    this.#checkDepth();
    this.#at++;
    const unit = this.#text[this.#skipSpace()];
    if (unit === "}") {
      this.#at++;
      return {};
    }
    if (unit !== '"') throw this.#expected('a key or "}"');
    const frame = { object: {}, key: "" };
    this.#frames.push(frame);
    this.#readKey(frame);
    return undefined;
  }

  #checkDepth(): void {
    const { depthMax } = this.#options;
    if (this.#frames.length >= depthMax) {
      throw this.#error("JSON_TOO_DEEP", `nested more than ${depthMax} deep`, this.#at);
    }
  }

  #readKey(frame: Frame & { readonly object: MutableJsonObject }): void {
    const start = this.#at;
    frame.key = this.#readString();
    if (this.#options.duplicates !== "last" && Object.hasOwn(frame.object, frame.key)) {
      this.#addDuplicate(frame.object, start);
    }
    if (this.#text[this.#skipSpace()] !== ":") throw this.#expected('":"');
    this.#at++;
  }

  #addDuplicate(object: MutableJsonObject, offset: number): void {
    if (this.#options.duplicates === "refuse") {
      throw this.#error("JSON_DUPLICATE_KEY", `duplicate key ${this.#path()}`, offset);
    }
    this.#repetitions++;
    if (this.#duplicates.size < duplicatesMax && this.#repetitions <= repetitionsMax) {
      const path = this.#path();
      if (!this.#duplicates.has(path)) this.#duplicates.set(path, Object.keys(object).length);
    }
  }

  /** Where we are, as Kubernetes says it: `spec.containers[0].name`. */
  #path(): string {
    let path = "";
    for (const { array, key } of this.#frames) {
      if (array !== undefined) path += `[${array.length}]`;
      else path += `${path === "" ? "" : "."}${shortened(key)}`;
    }
    return path;
  }

  #readString(): string {
    const start = this.#at;
    const end = stringEnd(this.#text, start);
    if (end < 0) throw this.#badString(start, this.#text.length);
    this.#at = end + 1;
    try {
      // The platform resolves escapes and refuses control characters. And it copies: a slice of the text
      // would keep all of the text in memory as long as the slice lives.
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      throw this.#badString(start, end);
    }
  }

  /** The first thing that is wrong within a string that was refused. */
  #badString(start: number, end: number): JsonSyntaxError {
    for (let at = start + 1; at < end; at++) {
      const unit = this.#text.charCodeAt(at);
      if (unit < 0x20) return this.#expected('a character or "\\""', at);
      if (unit === 0x5c) {
        const escape = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(this.#text.slice(at + 1, at + 6));
        if (escape === null) return this.#expected("an escape sequence", at + 1);
        at += escape[0].length;
      }
    }
    return this.#expected('"\\""', end);
  }

  #readWord<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#expected("a value");
    this.#at += word.length;
    return value;
  }

  #readNumber(): MutableJson {
    const start = this.#at;
    if (this.#text[this.#at] === "-") this.#at++;
    if (this.#text[this.#at] === "0") this.#at++;
    else this.#skipDigits(this.#at === start ? "a value" : "a digit");
    if (this.#text[this.#at] === ".") {
      this.#at++;
      this.#skipDigits("a digit");
    }
    if (this.#text[this.#at] === "e" || this.#text[this.#at] === "E") {
      this.#at++;
      if (this.#text[this.#at] === "+" || this.#text[this.#at] === "-") this.#at++;
      this.#skipDigits("a digit");
    }
    return numberFromText(this.#text.slice(start, this.#at));
  }

  /** Moves past at least one digit. */
  #skipDigits(expected: string): void {
    const start = this.#at;
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (!(unit >= 0x30 && unit <= 0x39)) break;
      this.#at++;
    }
    if (this.#at === start) throw this.#expected(expected);
  }

  /** Moves past white space, and returns where that is. */
  #skipSpace(): number {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return this.#at;
      this.#at++;
    }
  }

  #expected(what: string, offset = this.#at): JsonSyntaxError {
    return this.#error("JSON_SYNTAX", `expected ${what}`, offset);
  }

  #error(code: JsonSyntaxError["code"], problem: string, offset: number): JsonSyntaxError {
    return new JsonSyntaxError(code, problem, { text: this.#text, offset });
  }
}

function shortened(key: string): string {
  return key.length <= pathKeyCharactersMax ? key : `${key.slice(0, pathKeyCharactersMax)}…`;
}
