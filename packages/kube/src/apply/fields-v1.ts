// Field sets as they are stored: `FieldsV1`, a tree of `f:name`, `k:{…}`, `v:…` and `i:n`.

import {
  isJsonObject,
  setMember,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";

import { FieldSet, type PathStep, type SetNode } from "./field-set.ts";
import { BadPathElement, parseItemElement } from "./item-element.ts";

/** The stored form of a set, its keys in order. */
export function encodeFieldsV1(set: FieldSet): JsonObject {
  return encode(set, false);
}

/**
 * Reads the stored form of a set. Throws a `BadPathElement` for a key that names nothing, and for a value that is
 * not an object; kinds of keys that nobody knows yet are passed over.
 */
export function decodeFieldsV1(value: Json): FieldSet {
  if (!isJsonObject(value)) throw new BadPathElement(typeof value);
  return decode(value).children ?? new FieldSet();
}

const leaf: JsonObject = Object.freeze({});

function encode(set: FieldSet, includeSelf: boolean): JsonObject {
  const result: MutableJsonObject = {};
  if (includeSelf) result["."] = leaf as MutableJsonObject;
  for (const [step, node] of set.sortedNodes()) {
    const value = encodeNode(node);
    if (value !== undefined) setMember(result, storedKeyOf(step), value as MutableJsonObject);
  }
  return result;
}

function encodeNode({ isMember, children }: SetNode): JsonObject | undefined {
  if (children === undefined || (children.fields.size === 0 && children.items.size === 0)) {
    return isMember ? leaf : undefined;
  }
  return encode(children, isMember);
}

/** The key of a step in the stored form. */
export function storedKeyOf(step: PathStep): string {
  return typeof step === "string" ? `f:${step}` : step.text;
}

/** Children are undefined where there are none; a value that says nothing is a member. */
function decode(value: JsonObject): SetNode {
  let isMember = false;
  let children: FieldSet | undefined;
  for (const key in value) {
    if (key === ".") {
      isMember = true;
      continue;
    }
    const inner = value[key];
    // What is not an object has nothing below it: Kubernetes reads `null` as a leaf.
    const node = isJsonObject(inner) ? decode(inner) : leafOrThrow(key, inner);
    if (key.charCodeAt(0) === 102 && key.charCodeAt(1) === 58) {
      (children ??= new FieldSet()).setField(key.slice(2), node);
      continue;
    }
    const element = parseItemElement(key);
    if (element === undefined) continue;
    (children ??= new FieldSet()).setItem({ element, ...node });
  }
  return { isMember: isMember || children === undefined, children };
}

function leafOrThrow(key: string, value: Json | undefined): SetNode {
  if (value !== null) throw new BadPathElement(key);
  return { isMember: true, children: undefined };
}
