// A JSON object as the store carries it: text for the database, a value for the rules.

import { isJsonObject, type JsonObject, readJson, writeJson } from "@keelson/base";

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
  readonly #broken: ((cause: unknown) => Error) | undefined;

  private constructor(parts: {
    readonly value?: JsonObject;
    readonly text?: string;
    readonly broken?: (cause: unknown) => Error;
  }) {
    this.#value = parts.value;
    this.#text = parts.text;
    this.#broken = parts.broken;
  }

  /** Wraps a value, which the caller must not change afterwards. */
  static of(value: JsonObject): Body {
    return new Body({ value });
  }

  /** Reads text that may be anything. Throws `JsonSyntaxError`, or `TypeError` if it is not one JSON object. */
  static parse(text: string): Body {
    return new Body({ value: readObject(text) });
  }

  /** Wraps text that the store has written. Should it be damaged, whoever wants the value gets `broken`. */
  static stored(text: string, broken: (cause: unknown) => Error): Body {
    return new Body({ text, broken });
  }

  get value(): JsonObject {
    if (this.#value === undefined) {
      try {
        this.#value = readObject(this.#text ?? "");
      } catch (cause) {
        throw this.#broken?.(cause) ?? cause;
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

function readObject(text: string): JsonObject {
  const value = readJson(text);
  if (!isJsonObject(value)) throw new TypeError("a body must be a JSON object");
  return value;
}
