// Deletions that a mirror was told of by another way, and that a collection must know of before long.

import { keyOf, refOf, type KubeObject } from "../object.ts";
import type { Mirror } from "./mirror.ts";

export type Owed = ReadonlyMap<string, string | undefined>;

/** As it is now: what is read afterwards must know of it. */
export function owedBy<T extends KubeObject>(mirror: Mirror<T>): Owed {
  return new Map(mirror.owed?.());
}

export function isOwedStill<T extends KubeObject>(mirror: Mirror<T>, owed: Owed): boolean {
  if (owed.size === 0) return false;
  return [...owedBy(mirror)].some(([key, uid]) => owed.has(key) && owed.get(key) === uid);
}

/** Whether a state has what was gone before it was asked for. */
export function hasOwed(objects: readonly KubeObject[], owed: Owed): boolean {
  if (owed.size === 0) return false;
  return objects.some((object) => {
    const key = keyOf(refOf(object));
    return owed.has(key) && owed.get(key) === object.metadata.uid;
  });
}
