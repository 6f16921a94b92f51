import {
  isJsonArray,
  isJsonObject,
  setMember,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "./json.ts";

/**
 * A copy that shares nothing which can change, so its owner may. Members that are `undefined` are left out.
 *
 * Not `structuredClone`: that would turn a `JsonNumber` into a plain object. Depth does not overflow the stack.
 */
export function cloneJson(value: JsonObject): MutableJsonObject;
export function cloneJson(value: Json): MutableJson;
export function cloneJson(value: Json): MutableJson {
  const pending: Pair[] = [];
  const copy = shallowCopy(value, pending);
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) fill(pair, pending);
  return copy;
}

/** An original and its copy, still empty. */
type Pair =
  | { readonly items: readonly Json[]; readonly copy: MutableJson[] }
  | { readonly members: JsonObject; readonly copy: MutableJsonObject };

function fill(pair: Pair, pending: Pair[]): void {
  if ("items" in pair) {
    for (const item of pair.items) pair.copy.push(shallowCopy(item, pending));
    return;
  }
  for (const key of Object.keys(pair.members)) {
    const member = pair.members[key];
    if (member !== undefined) setMember(pair.copy, key, shallowCopy(member, pending));
  }
}

function shallowCopy(value: Json, pending: Pair[]): MutableJson {
  if (isJsonArray(value)) {
    const copy: MutableJson[] = [];
    pending.push({ items: value, copy });
    return copy;
  }
  if (isJsonObject(value)) {
    const copy: MutableJsonObject = {};
    pending.push({ members: value, copy });
    return copy;
  }
  return value;
}
