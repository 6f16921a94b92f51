// A JSON object as the store carries it: text for the database, a value for the rules.

import { isJsonObject, type JsonObject, readJson, writeJson } from "@keelson/base";
import type { Key } from "./key.ts";

/** The error for a body that is damaged, by whose it is. */
type Broken = (key: Key, cause: unknown) => Error;

/**
 * An immutable JSON object, known by its value, its text, or both.
 *
 * Each form is made from the other at most once, so a body that is decoded at
 * the edge, stored, answered and sent to a thousand watchers is encoded once.
 * Texts have one writer, so equal values have texts of equal length, and numbers
 * keep the text they came with.
 */
export class Body {
  #value: JsonObject | undefined;
  #text: string | undefined;
  /** Of a stored body: whose it is, and what to say if it is damaged. */
  #key: Key | undefined;
  #broken: Broken | undefined;

  private constructor(value: JsonObject | undefined, text: string | undefined) {
    this.#value = value;
    this.#text = text;
  }

  /** Wraps a value, which the caller must not change afterwards. */
  static of(value: JsonObject): Body {
    return new Body(value, undefined);
  }

  /** Reads text that may be anything. Throws `JsonSyntaxError`, or `TypeError` if it is not one JSON object. */
  static parse(text: string): Body {
    return new Body(readObject(text), undefined);
  }

  /** Wraps text that the store has written. Should it be damaged, whoever wants the value gets what `broken` makes of it. */
  static stored(text: string, key: Key, broken: Broken): Body {
    const body = new Body(undefined, text);
    body.#key = key;
    body.#broken = broken;
    return body;
  }

  get value(): JsonObject {
    if (this.#value === undefined) {
      try {
        this.#value = readObject(this.#text ?? "");
      } catch (cause) {
        const error = this.#key && this.#broken?.(this.#key, cause);
        throw error ?? cause;
      }
    }
    return this.#value;
  }

  get text(): string {
    return (this.#text ??= writeJson(this.value));
  }

  /** About how much memory the body holds, for bounding caches. */
  get bytes(): number {
    // Two bytes a character at most, and a parsed value costs about twice its text again.
    return this.text.length * (this.#value === undefined ? 2 : 6) + 64;
  }
}

/** What was written must be read, and it may be deeper than any text that is sent: managed fields repeat the nesting of their object. */
const depthMax = 1_024;

function readObject(text: string): JsonObject {
  const value = readJson(text, { depthMax });
  if (!isJsonObject(value)) throw new TypeError("a body must be a JSON object");
  return value;
}
