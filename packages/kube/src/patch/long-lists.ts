// Lists that a patch changes in the middle: an item that comes or goes there moves all that follow it, and a patch may
// do that ten thousand times to a list of a million items.

import { isJsonArray, isJsonObject, type MutableJson } from "@keelson/base";

type List = MutableJson[];

/** A list in parts, and how many items they have together. */
interface Divided {
  readonly parts: readonly List[];
  length: number;
}

/**
 * The lists of a document that is being patched. A long one is kept in parts once items come or go in its middle, so
 * that only those of one part move; until it is put together again, what stands in it is known here alone.
 */
export class LongLists {
  readonly #divided = new Map<List, Divided>();

  lengthOf(list: List): number {
    return (this.#divided.get(list) ?? list).length;
  }

  /** The item at an index that is in the list. */
  at(list: List, index: number): MutableJson | undefined {
    const { part, offset } = this.#find(list, index);
    return part[offset];
  }

  replace(list: List, index: number, value: MutableJson): void {
    const { part, offset } = this.#find(list, index);
    part[offset] = value;
  }

  /** The index may be the length: behind the last item. */
  insert(list: List, index: number, value: MutableJson): void {
    const divided = this.#divide(list, index);
    const { part, offset } = this.#find(list, index);
    part.splice(offset, 0, value);
    if (divided !== undefined) divided.length += 1;
  }

  remove(list: List, index: number): void {
    const divided = this.#divide(list, index);
    const { part, offset } = this.#find(list, index);
    part.splice(offset, 1);
    if (divided !== undefined) divided.length -= 1;
  }

  /** Puts the lists together that stand in a value, which is then what it looks like. */
  settle(value: MutableJson): void {
    const pending = [value];
    while (this.#divided.size > 0) {
      const next = pending.pop();
      if (next === undefined) return;
      if (isJsonArray(next)) {
        this.#join(next);
        for (const item of next) pending.push(item);
      } else if (isJsonObject(next)) {
        for (const name in next) pending.push(next[name] ?? null);
      }
    }
  }

  /** Undefined if it is left as it is: there is not much to move. */
  #divide(list: List, index: number): Divided | undefined {
    const known = this.#divided.get(list);
    if (known !== undefined || list.length - index <= movedMax) return known;
    const parts: List[] = [];
    for (let start = 0; start < list.length; start += partLength) {
      parts.push(list.slice(start, start + partLength));
    }
    const divided = { parts, length: list.length };
    this.#divided.set(list, divided);
    return divided;
  }

  #join(list: List): void {
    const divided = this.#divided.get(list);
    if (divided === undefined) return;
    this.#divided.delete(list);
    list.length = 0;
    for (const part of divided.parts) for (const item of part) list.push(item);
  }

  /** The part that an item stands in; behind the last item it is the last part. */
  #find(list: List, index: number): { readonly part: List; readonly offset: number } {
    let part = list;
    let offset = index;
    for (const next of this.#divided.get(list)?.parts ?? []) {
      if (part !== list) offset -= part.length;
      part = next;
      if (offset < part.length) break;
    }
    return { part, offset };
  }
}

/** As many items move at once without being noticed. */
const movedMax = 4_096;
const partLength = 1_024;
