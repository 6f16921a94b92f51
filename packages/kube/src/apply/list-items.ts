// Which item of a list is which.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { compareBytes } from "../go-text/byte-order.ts";
import { goJson, goJsonString } from "../go-text/go-json.ts";
import { quote } from "../go-text/quote.ts";
import { memberOf } from "../object/member.ts";
import { keyElement, valueElement, type ItemElement } from "./item-element.ts";
import type { ListType } from "./merge-type.ts";

/** The element of an item, or what keeps it from having one. */
export function elementOf(list: ListType, item: Json): ItemElement | string {
  if (list.isAtomic) return "invalid indexing of non-associative list";
  return list.keys.length > 0 ? keyedElement(list, item) : setElement(item);
}

function keyedElement(list: ListType, item: Json): ItemElement | string {
  if (item === null) return "associative list with keys may not have a null element";
  if (!isJsonObject(item)) return "associative list with keys may not have non-map elements";
  const fields: [string, Json][] = [];
  for (const key of list.keys) {
    // A key that is absent and has no default is left out: it tells this item from those that have it.
    const value = memberOf(item, key) ?? list.item.map?.fields.get(key)?.default;
    if (value !== undefined) {
      fields.push([key, value]);
    } else if (list.item.map === undefined) {
      return `couldn't find default value for ${key}: associative list may not have non-map types`;
    }
  }
  if (fields.length === 0) {
    const keys = `[${list.keys.map(quote).join(" ")}]`;
    return `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`;
  }
  return keyElement(fields);
}

function setElement(item: Json): ItemElement | string {
  if (item === null) return "associative list without keys has an element that's an explicit null";
  if (isJsonArray(item)) return "not supported: associative list with lists as elements";
  if (isJsonObject(item)) return "associative list without keys has an element that's a map type";
  return valueElement(item);
}

/** The text of an item's element; undefined if it has none. Cheaper than to make the element. */
export function elementText(list: ListType, item: Json): string | undefined {
  const [key, more] = list.keys;
  if (key !== undefined && more === undefined && isJsonObject(item)) {
    const value = memberOf(item, key);
    if (typeof value === "string") return textOfKey(list, key, value);
  }
  return textOfKeys(list, item) ?? textOfElement(list, item);
}

/** Names of items come again and again, and making the text, and finding it among keys, costs. */
function textOfKey({ texts }: ListType, key: string, value: string): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = `k:{${goJsonString(key)}:${goJsonString(value)}}`;
  if (value.length > textLengthMax) return text;
  if (texts.size >= textsMax) texts.clear();
  texts.set(value, text);
  return text;
}

const textsMax = 256;
const textLengthMax = 64;

function textOfElement(list: ListType, item: Json): string | undefined {
  const element = elementOf(list, item);
  return typeof element === "string" ? undefined : element.text;
}

/** As ports have it: two keys in order, both there, texts or whole numbers. */
function textOfKeys({ keys }: ListType, item: Json): string | undefined {
  const [first, second, more] = keys;
  if (first === undefined || second === undefined || more !== undefined) return undefined;
  if (!isJsonObject(item) || compareBytes(first, second) >= 0) return undefined;
  const left = plainText(memberOf(item, first));
  const right = plainText(memberOf(item, second));
  if (left === undefined || right === undefined) return undefined;
  return `k:{${goJsonString(first)}:${left},${goJsonString(second)}:${right}}`;
}

function plainText(value: Json | undefined): string | undefined {
  if (typeof value === "string") return goJsonString(value);
  return typeof value === "number" ? goJson(value) : undefined;
}

/** What keeps an item from having an element, if anything: cheaper than to make it. */
export function itemProblem(list: ListType, item: Json): string | undefined {
  const [key] = list.keys;
  if (key !== undefined && isJsonObject(item) && typeof item[key] === "string") return undefined;
  const element = elementOf(list, item);
  return typeof element === "string" ? element : undefined;
}

/** What tells an item from the others of its list: the value of its one key, else the text of its element. */
export function identityOf(list: ListType, item: Json): Json {
  const [key, more] = list.keys;
  if (key !== undefined && more === undefined && isJsonObject(item)) {
    const value = memberOf(item, key);
    if (typeof value === "string") return `"${value}`;
  }
  return elementText(list, item) ?? null;
}

/**
 * Whether the items of a list differ in their keys, as far as is cheap to see: a short list, all keys there, texts or
 * numbers. No says nothing.
 */
export function areApart({ keys }: ListType, items: readonly Json[]): boolean {
  if (items.length <= 1) return true;
  if (keys.length === 0 || items.length > pairsMax) return false;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (!isJsonObject(item) || !hasPlainKeys(keys, item)) return false;
    for (let j = 0; j < i; j++) if (hasSameKeys(keys, item, items[j] as JsonObject)) return false;
  }
  return true;
}

/** Beyond, comparing each with each costs more than a set. */
const pairsMax = 16;

function hasPlainKeys(keys: readonly string[], item: JsonObject): boolean {
  for (const key of keys) {
    const value = memberOf(item, key);
    if (typeof value !== "string" && typeof value !== "number") return false;
  }
  return true;
}

function hasSameKeys(keys: readonly string[], a: JsonObject, b: JsonObject): boolean {
  for (const key of keys) if (a[key] !== b[key]) return false;
  return true;
}

/** Whether two lists name the same items in the same order, by keys that are texts or numbers. */
export function sameOrder(list: ListType, a: readonly Json[], b: readonly Json[]): boolean {
  if (list.keys.length === 0 || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    const left = a[i];
    const right = b[i];
    if (!isJsonObject(left) || !isJsonObject(right)) return false;
    for (const key of list.keys) {
      const value = memberOf(left, key);
      if (value !== memberOf(right, key)) return false;
      if (typeof value !== "string" && typeof value !== "number") return false;
    }
  }
  return true;
}
