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

  /** Throws a `TypeError`, as a `bigint` does: `JSON.stringify` cannot keep the text, `writeJson` can. */
  toJSON(): never {
    throw new TypeError(`JSON.stringify cannot keep the text of ${this.text}: use writeJson`);
  }
}

/** Whether a value is a JSON object: neither an array, nor null, nor a number of its own class. */
export function isJsonObject(value: MutableJson | undefined): value is MutableJsonObject;
export function isJsonObject(value: Json | undefined): value is JsonObject;
export function isJsonObject(value: Json | undefined): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

/** Whether a value is a JSON array. `Array.isArray` forgets the type of a readonly one. */
export function isJsonArray(value: MutableJson | undefined): value is MutableJson[];
export function isJsonArray(value: Json | undefined): value is readonly Json[];
export function isJsonArray(value: Json | undefined): boolean {
  return Array.isArray(value);
}

/** Sets a member whose key came from outside: `__proto__` becomes an ordinary member, never a prototype. */
export function setMember(object: MutableJsonObject, key: string, value: MutableJson): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    object[key] = value;
  }
}

const numberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
