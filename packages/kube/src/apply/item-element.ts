// How an item of a list is named in a field set: by its keys, by its value, or by its index.

import { isJsonObject, JsonNumber, JsonSyntaxError, readJson, type Json } from "@keelson/base";

import { compareBytes } from "../go-text/byte-order.ts";
import { goJson, goJsonString } from "../go-text/go-json.ts";
import { isInteger } from "../go-text/go-print.ts";
import { compareValues, printPathValue } from "./smd-value.ts";

/** An item by its keys, in the order of their names. `text` is its name in `FieldsV1` and tells items apart. */
interface KeyElement {
  readonly kind: "key";
  readonly text: string;
  readonly fields: readonly (readonly [name: string, value: Json])[];
}

/** An item of a set. */
interface ValueElement {
  readonly kind: "value";
  readonly text: string;
  readonly value: Json;
}

interface IndexElement {
  readonly kind: "index";
  readonly text: string;
  readonly index: number;
}

export type ItemElement = KeyElement | ValueElement | IndexElement;

/** A text that names no item. */
export class BadPathElement extends Error {
  readonly code = "BAD_PATH_ELEMENT";

  constructor(text: string, options: ErrorOptions = {}) {
    super(`${JSON.stringify(text)} does not name an item of a list`, options);
    this.name = "BadPathElement";
  }
}

/** The element of an item with these keys, in any order. */
export function keyElement(fields: readonly (readonly [name: string, value: Json])[]): KeyElement {
  const only = fields.length === 1 ? fields[0] : undefined;
  if (only !== undefined) {
    return { kind: "key", text: `k:{${goJsonString(only[0])}:${elementJson(only[1])}}`, fields };
  }
  const sorted = isInOrder(fields) ? fields : fields.toSorted(([a], [b]) => compareBytes(a, b));
  let text = "";
  for (const [name, value] of sorted) {
    text += `${text === "" ? "" : ","}${goJsonString(name)}:${elementJson(value)}`;
  }
  return { kind: "key", text: `k:{${text}}`, fields: sorted };
}

/** Most lists have their keys in order, and to sort what is sorted costs a copy. */
function isInOrder(fields: readonly (readonly [name: string, value: Json])[]): boolean {
  let previous = "";
  for (const [name] of fields) {
    if (compareBytes(previous, name) > 0) return false;
    previous = name;
  }
  return true;
}

export function valueElement(value: Json): ValueElement {
  return { kind: "value", text: `v:${elementJson(value)}`, value };
}

export function indexElement(index: number): IndexElement {
  return { kind: "index", text: `i:${index}`, index };
}

/**
 * Reads the name of an item in `FieldsV1`. Undefined for a kind of name that nobody knows yet: such are passed over.
 * Throws a `BadPathElement` for anything malformed.
 */
export function parseItemElement(text: string): ItemElement | undefined {
  if (text.length < 2 || text[1] !== ":") throw new BadPathElement(text);
  const rest = text.slice(2);
  switch (text.charAt(0)) {
    case "k": {
      const value = parseJson(text, rest);
      if (!isJsonObject(value)) throw new BadPathElement(text);
      return keyElement(Object.entries<Json>(value));
    }
    case "v":
      return valueElement(parseJson(text, rest));
    case "i":
      if (!/^[+-]?\d{1,15}$/.test(rest)) throw new BadPathElement(text);
      return indexElement(Number(rest));
    default:
      return undefined;
  }
}

/** `[name="http"]`, `[="x"]`, `[0]`. */
export function printItemElement(element: ItemElement): string {
  switch (element.kind) {
    case "key":
      return `[${element.fields.map(([name, value]) => `${name}=${printPathValue(value)}`).join(",")}]`;
    case "value":
      return `[=${printPathValue(element.value)}]`;
    case "index":
      return `[${element.index}]`;
  }
}

/** Keys come before values, values before indexes. */
export function compareItemElements(a: ItemElement, b: ItemElement): number {
  if (a.kind === "key" && b.kind === "key") return compareKeys(a.fields, b.fields);
  if (a.kind === "value" && b.kind === "value") return compareValues(a.value, b.value);
  if (a.kind === "index" && b.kind === "index") return a.index - b.index;
  return rank[a.kind] - rank[b.kind];
}

const rank: Readonly<Record<ItemElement["kind"], number>> = { key: 0, value: 1, index: 2 };

function compareKeys(a: KeyElement["fields"], b: KeyElement["fields"]): number {
  for (let i = 0; ; i++) {
    const left = a[i];
    const right = b[i];
    if (left === undefined || right === undefined) return a.length - b.length;
    const order = compareBytes(left[0], right[0]) || compareValues(left[1], right[1]);
    if (order !== 0) return order;
  }
}

/** The canonical text of a value, the same for equal ones: 1.0 is 1. */
function elementJson(value: Json): string {
  if (typeof value === "string") return goJsonString(value);
  if (value instanceof JsonNumber && !isInteger(value)) {
    const number = Number(value.text);
    if (Number.isFinite(number)) return String(Object.is(number, -0) ? 0 : number);
  }
  return goJson(value);
}

function parseJson(text: string, json: string): Json {
  // Most are `{"name":"x"}`.
  try {
    return readJson(json);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new BadPathElement(text, { cause: error });
  }
}
