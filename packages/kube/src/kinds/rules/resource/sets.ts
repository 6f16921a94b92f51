// Lists of which each item is judged, and none may be there twice.

import { quote } from "../../../go-text/quote.ts";
import type { Place } from "../place.ts";

/** Reports every item that is wrong, unless there are too many. */
export function checkEach<T>(
  items: readonly T[],
  at: Place,
  { max, check }: { readonly max: number; readonly check: (item: T, at: Place) => void },
): void {
  if (items.length > max) at.tooMany(items.length, max);
  else for (const [index, item] of items.entries()) check(item, at.item(index));
}

/** The same for a set: `keyOf` tells items apart, and `show` prints a key. */
export function checkSet<T>(
  items: readonly T[],
  at: Place,
  options: {
    readonly max: number;
    readonly check: (item: T, at: Place) => void;
    readonly keyOf: (item: T) => string;
    readonly show?: (item: T) => string;
  },
): void {
  checkEach(items, at, options);
  if (items.length > options.max) return;
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = options.keyOf(item);
    if (seen.has(key)) at.item(index).duplicateShown(options.show?.(item) ?? quote(key));
    seen.add(key);
  }
}
