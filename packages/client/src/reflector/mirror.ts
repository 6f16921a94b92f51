import type { DynamicObject, KubeObject } from "../object.ts";

/** Who receives. Calls come one after the other, in the order of the collection's versions. */
export interface Mirror<T extends KubeObject = DynamicObject> {
  /**
   * The latest version that it has heard of, by whatever way; empty if none. A collection that is read afterwards
   * and is older has been put back.
   */
  known(): string;
  /**
   * Deletions that it was told of by another way and has not yet heard of from here: uids by keys. Their versions
   * are unknown. A collection that has them still, or has come further and says nothing of them, was put back too.
   */
  owed?(): ReadonlyMap<string, string | undefined>;
  /** This is all there is, as of `version`. With `isBack` whatever was known of later versions is no longer true. */
  replace(objects: readonly T[], version: string, options: { readonly isBack: boolean }): void;
  /** One object changed, later than everything before. */
  change(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void;
  /** Everything at or below `version` was handed over. */
  bookmark(version: string): void;
}
