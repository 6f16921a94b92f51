// A JSON object as the store carries it: text for the database, a value for the rules.

import { type JsonObject, readJson, writeJson } from "@keelson/base";

/**
 * An immutable JSON object, known by its value, its text, or both.
 *
 * Each form is made from the other at most once, so a body that is decoded at
 * the edge, stored, answered and sent to a thousand watchers is encoded once.
 * The text is authoritative: numbers keep the text they came with.
 */
export class Body {
  #value: JsonObject | undefined;
  #text: string | undefined;

  private constructor(value: JsonObject | undefined, text: string | undefined) {
    this.#value = value;
    this.#text = text;
  }

  /** Wraps a value, which the caller must not change afterwards. */
  static of(value: JsonObject): Body {
    return new Body(value, undefined);
  }

  /** Wraps the text of a JSON object that is known to be one: our own writing, or checked before. */
  static trusted(text: string): Body {
    return new Body(undefined, text);
  }

  /** Reads text that may be anything. Throws `JsonSyntaxError` unless it is one JSON object. */
  static parse(text: string): Body {
    const value = readJson(text);
    if (value === null || typeof value !== "object" || !isPlainObject(value)) {
      throw new TypeError("a stored body must be a JSON object");
    }
    return new Body(value, text);
  }

  get value(): JsonObject {
    // The text was written by us or checked by `parse`: it is an object.
    return (this.#value ??= readJson(this.text) as JsonObject);
  }

  get text(): string {
    return (this.#text ??= writeJson(this.#value ?? {}));
  }

  /** About how much memory the body holds, for bounding caches. */
  get bytes(): number {
    // Two bytes a character at most, and a parsed value costs about twice its text again.
    return this.text.length * (this.#value === undefined ? 2 : 6) + 64;
  }
}

function isPlainObject(value: object): value is JsonObject {
  return Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
}
