/**
 * A JSON value that lost nothing on its way in.
 *
 * A number whose text a JavaScript number gives back exactly is a `number`, an integer beyond ±(2^53-1) that
 * fits 64 bits a `bigint`, and any other (`1.0`, `1e3`, `-0`, `1e400`) a `JsonNumber`.
 */
export type Json =
  | null
  | boolean
  | number
  | bigint
  | JsonNumber
  | string
  | readonly Json[]
  | JsonObject;

/** A JSON object. Its own enumerable properties are its members, `__proto__` too; `undefined` is never one. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A JSON value that its owner may change in place. */
export type MutableJson =
  | null
  | boolean
  | number
  | bigint
  | JsonNumber
  | string
  | MutableJson[]
  | MutableJsonObject;

/** A JSON object that its owner may change in place. */
export interface MutableJsonObject {
  [key: string]: MutableJson;
}

/** A number as it was written, because a JavaScript number would say it differently. */
export class JsonNumber {
  /** The text of the number, exactly. */
  readonly text: string;

  /** Throws a `RangeError` unless `text` is a number by the grammar of JSON. */
  constructor(text: string) {
    if (!numberPattern.test(text)) throw new RangeError(`${JSON.stringify(text)} is not a number`);
    this.text = text;
  }

  /** The nearest JavaScript number; infinite where there is none. */
  valueOf(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }

  /** For `JSON.stringify`, which cannot keep the text: the nearest number. `writeJson` keeps it. */
  toJSON(): number {
    return Number(this.text);
  }
}

const numberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
