// JSON Patch (RFC 6902) as Kubernetes carries it out.

import {
  cloneJson,
  isJsonArray,
  isJsonObject,
  jsonEqual,
  setMember,
  writeJson,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { memberOf } from "../object/member.ts";
import { refuseDeepNesting, refuseDeepObject } from "../object/nesting.ts";
import { unprocessable } from "../status/failures.ts";
import type { JsonPatchOperation } from "./json-patch-decode.ts";
import { LongLists } from "./long-lists.ts";

/** How many bytes all `copy` operations of a patch may add together. */
export const copyBytesMax = 3 * 1024 * 1024;

/**
 * The document after the patch; the argument is not changed. Throws `Invalid` without further words, as Kubernetes
 * does, if an operation cannot be carried out: a failing `test`, a missing path, too much copied.
 *
 * It differs from the RFC where Kubernetes does: `replace` may name a member that is not there, indexes may count
 * from the end, what stands before the first slash of a path is ignored.
 */
export function applyJsonPatch(
  document: JsonObject,
  operations: readonly JsonPatchOperation[],
): MutableJson {
  const patch = new Patching(cloneJson(document));
  for (const operation of operations) {
    if (!patch.carryOut(operation)) throw unprocessable();
  }
  const result = patch.result();
  // Operations can nest what they move ever deeper.
  if (isJsonObject(result)) refuseDeepObject(result);
  else refuseDeepNesting(result);
  return result;
}

type Container = MutableJsonObject | MutableJson[];

/** A place in the document: a container that is there, and a key in it that need not be. */
interface Place {
  readonly container: Container;
  readonly key: string;
}

class Patching {
  #root: MutableJson;
  readonly #lists = new LongLists();
  #copiedBytes = 0;

  constructor(root: MutableJsonObject) {
    this.#root = root;
  }

  /** The document as it is now. */
  result(): MutableJson {
    this.#lists.settle(this.#root);
    return this.#root;
  }

  /** Whether it could be done. */
  carryOut(operation: JsonPatchOperation): boolean {
    switch (operation.op ?? "") {
      case "add":
        return this.#add(operation.path, valueOf(operation));
      case "remove":
        return this.#remove(operation.path);
      case "replace":
        return this.#replace(operation.path, valueOf(operation));
      case "move":
        return this.#move(operation);
      case "copy":
        return this.#copy(operation);
      case "test":
        return this.#test(operation);
      default:
        return false;
    }
  }

  #add(path: string | undefined, value: MutableJson): boolean {
    const place = this.#find(path);
    return place !== undefined && this.#addAt(place, value);
  }

  #remove(path: string | undefined): boolean {
    const place = this.#find(path);
    return place !== undefined && this.#removeAt(place);
  }

  #replace(path: string | undefined, value: MutableJson): boolean {
    if (path === "") {
      if (!isJsonObject(value) && !isJsonArray(value)) return false;
      this.#root = value;
      return true;
    }
    const place = this.#find(path);
    if (place === undefined) return false;
    if (!isJsonArray(place.container)) {
      setMember(place.container, place.key, value);
      return true;
    }
    const index = indexIn(place.key, this.#lists.lengthOf(place.container));
    if (index === undefined) return false;
    this.#lists.replace(place.container, index, value);
    return true;
  }

  #move({ from, path }: JsonPatchOperation): boolean {
    const source = this.#find(from);
    if (source === undefined) return false;
    const value = this.#valueAt(source);
    if (value === undefined || !this.#removeAt(source)) return false;
    return this.#add(path, value);
  }

  #copy({ from, path }: JsonPatchOperation): boolean {
    const source = this.#find(from);
    if (source === undefined) return false;
    const value = this.#valueAt(source);
    // A member that is not there is copied as null; an item that is not there is not copied.
    if (value === undefined && isJsonArray(source.container)) return false;
    const target = this.#find(path);
    if (target === undefined) return false;
    if (value !== undefined && value !== null) {
      this.#lists.settle(value);
      this.#copiedBytes += writeJson(value).length;
    }
    if (this.#copiedBytes > copyBytesMax) return false;
    return this.#addAt(target, cloneJson(value ?? null));
  }

  #test({ path, value }: JsonPatchOperation): boolean {
    if (path === "") return value !== undefined && jsonEqual(this.result(), value);
    const place = this.#find(path);
    if (place === undefined) return false;
    const actual = this.#valueAt(place);
    if (actual === undefined && isJsonArray(place.container)) return false;
    this.#lists.settle(actual ?? null);
    return jsonEqual(actual ?? null, value ?? null);
  }

  #find(path: string | undefined): Place | undefined {
    const [, ...keys] = path?.split("/") ?? [];
    const last = keys.pop();
    if (last === undefined) return undefined;
    let container = this.#root;
    for (const key of keys) {
      if (!isContainer(container)) return undefined;
      const next = this.#valueAt({ container, key: unescapeKey(key) });
      if (next === undefined) return undefined;
      container = next;
    }
    return isContainer(container) ? { container, key: unescapeKey(last) } : undefined;
  }

  #valueAt({ container, key }: Place): MutableJson | undefined {
    if (!isJsonArray(container)) return memberOf(container, key);
    const index = indexIn(key, this.#lists.lengthOf(container));
    return index === undefined ? undefined : this.#lists.at(container, index);
  }

  #addAt({ container, key }: Place, value: MutableJson): boolean {
    if (!isJsonArray(container)) {
      setMember(container, key, value);
      return true;
    }
    const length = this.#lists.lengthOf(container);
    const index = key === "-" ? length : indexIn(key, length + 1);
    if (index === undefined) return false;
    this.#lists.insert(container, index, value);
    return true;
  }

  #removeAt({ container, key }: Place): boolean {
    if (!isJsonArray(container)) {
      if (memberOf(container, key) === undefined) return false;
      return delete container[key];
    }
    const index = indexIn(key, this.#lists.lengthOf(container));
    if (index === undefined) return false;
    this.#lists.remove(container, index);
    return true;
  }
}

function isContainer(value: MutableJson): value is Container {
  return isJsonArray(value) || isJsonObject(value);
}

/** A copy: the same value may be added at several places. No value is null. */
function valueOf({ value }: JsonPatchOperation): MutableJson {
  return cloneJson(value ?? null);
}

/** An index below `length`; a negative one counts from the end. Undefined if it is none. */
function indexIn(key: string, length: number): number | undefined {
  if (!/^[+-]?\d{1,15}$/.test(key)) return undefined;
  const index = Number(key);
  if (index >= length || index < -length) return undefined;
  return index < 0 ? index + length : index;
}

function unescapeKey(key: string): string {
  return key.includes("~")
    ? key.replaceAll(/~[01]/g, (escape) => (escape === "~1" ? "/" : "~"))
    : key;
}
