// Several events of a watch in one piece. Watchers that wait for the same turn have waited for the same events.

import { Chunk } from "../http/chunk.ts";

/** How many pieces are remembered: those of watchers that are about as far as each other. */
const keptMax = 8;

/** What was lately put together, so that it is put together once for all who get it. */
export class JoinedEvents<T> {
  #kept: { readonly items: readonly T[]; readonly chunk: Chunk }[] = [];

  /** The items in one piece; `encode` gives that of each. */
  join(items: readonly T[], encode: (item: T) => Chunk): Chunk {
    const known = this.#kept.find((kept) => isSame(kept.items, items));
    if (known !== undefined) return known.chunk;
    const chunk = Chunk.join(items.map((item) => encode(item).bytes));
    this.#kept = [{ items, chunk }, ...this.#kept.slice(0, keptMax - 1)];
    return chunk;
  }
}

/** Runs of items, in order, of about so many bytes at the most; a single larger item still comes. */
export function* runsOf<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  bytesMax: number,
): Generator<readonly T[]> {
  let start = 0;
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    const size = sizeOf(item);
    if (index > start && bytes + size > bytesMax) {
      yield items.slice(start, index);
      start = index;
      bytes = 0;
    }
    bytes += size;
  }
  if (start < items.length) yield start === 0 ? items : items.slice(start);
}

function isSame<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((item, index) => item === others[index]);
}
