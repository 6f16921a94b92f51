// Which item of a list is which.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

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
