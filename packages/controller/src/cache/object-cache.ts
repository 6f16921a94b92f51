// A copy of a collection in memory, kept level by a reflector and by our own writes.

import {
  isLater,
  keyOf,
  refOf,
  type DynamicObject,
  type KubeObject,
  type Mirror,
  type ObjectRef,
} from "@keelson/client";

import { Index } from "./cache-index.ts";
import { Gate } from "./gate.ts";

/** What happened to one object. A replaced one (same name, another uid) is `deleted`, then `added`. */
export type Change<T extends KubeObject = DynamicObject> =
  | { readonly type: "added"; readonly object: T; readonly isInitial: boolean }
  | { readonly type: "updated"; readonly object: T; readonly previous: T }
  | { readonly type: "deleted"; readonly object: T };

export type ChangeListener<T extends KubeObject = DynamicObject> = (change: Change<T>) => void;

/** The values under which an object is found in an index. */
export type IndexFunction<T extends KubeObject = DynamicObject> = (object: T) => readonly string[];

export interface ObjectCacheOptions<T extends KubeObject = DynamicObject> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** What is kept of an object; by default all but `metadata.managedFields`, which nobody reads from a cache. */
  readonly transform?: (object: T) => T;
  /** Whether an object belongs to the cache: for our own writes, which no server has selected. */
  readonly selects?: (object: T) => boolean;
}

/**
 * Objects of a kind by their keys, and by indexes.
 *
 * - It is told of changes in the order of versions by its reflector, and of our own writes by whoever made them.
 *   A read after a write of ours sees that write or a later state, never an earlier one (C6).
 * - Each state of an object is announced once, whichever way it came, and an older one after a newer one never.
 * - Objects are shared by all who read: nobody may change them.
 */
export class ObjectCache<T extends KubeObject = DynamicObject> implements Mirror<T> {
  readonly #objects = new Map<string, T>();
  readonly #namespaces = new Index();
  readonly #indexes = new Map<string, { readonly index: Index; readonly of: IndexFunction<T> }>();
  readonly #listeners = new Set<ChangeListener<T>>();
  /** Uids of objects that we deleted and whose end the reflector has not seen yet. */
  readonly #deleted = new Map<string, string | undefined>();
  readonly #transform: (object: T) => T;
  readonly #selects: (object: T) => boolean;
  readonly #synced = new Gate();
  #version = "";
  /** The latest version of a write of ours. */
  #ownVersion = "";

  constructor(options: ObjectCacheOptions<T> = {}) {
    this.#transform = options.transform ?? withoutManagedFields;
    this.#selects = options.selects ?? (() => true);
    for (const [name, of] of Object.entries(options.indexes ?? {})) {
      this.#indexes.set(name, { index: new Index(), of });
    }
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Everything at or below this version has arrived; empty before the first state. */
  get version(): string {
    return this.#version;
  }

  get isSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** Resolves when the first whole state has arrived. */
  async untilSynced(signal: AbortSignal): Promise<void> {
    await this.#synced.passed(signal);
  }

  get(ref: ObjectRef): T | undefined {
    return this.#objects.get(keyOf(ref));
  }

  /** All objects, or those of a namespace, in no order. */
  *list({ namespace }: { readonly namespace?: string } = {}): Generator<T, void, undefined> {
    if (namespace === undefined) yield* this.#objects.values();
    else yield* this.#those(this.#namespaces.keys(namespace));
  }

  /** The objects under `value` in an index, in no order. Throws for an index that was not declared. */
  *byIndex(name: string, value: string): Generator<T, void, undefined> {
    const found = this.#indexes.get(name);
    if (found === undefined) throw new Error(`the cache has no index ${name}`);
    yield* this.#those(found.index.keys(value));
  }

  /**
   * Adds an index to a cache that may be in use: whoever shares it may not have known. An index of the same name
   * stays as it is.
   */
  addIndex(name: string, of: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return;
    const index = new Index();
    for (const [key, object] of this.#objects) index.put(key, of(object));
    this.#indexes.set(name, { index, of });
  }

  /** Tells `listener` of every object that is there, and of every change from now on. It must not throw. */
  subscribe(listener: ChangeListener<T>): Disposable {
    this.#listeners.add(listener);
    for (const object of this.#objects.values())
      listener({ type: "added", object, isInitial: true });
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** A write of ours was answered with this state. */
  accept(object: T): void {
    if (!this.isSynced) return; // The first state is read from the present: it will have it.
    const key = keyOf(refOf(object));
    const current = this.#objects.get(key);
    if (current !== undefined && !isLater(versionOf(object), versionOf(current))) return;
    // A state that the reflector has passed: the object has changed since, or is gone.
    if (!isLater(versionOf(object), this.#version)) return;
    if (this.#isDeleted(key, object)) return; // Its answer comes after that of a delete.
    if (this.#selects(object)) {
      if (isLater(versionOf(object), this.#ownVersion)) this.#ownVersion = versionOf(object);
      this.#put(key, this.#transform(object));
    } else if (current !== undefined) this.#remove(key, current);
  }

  /** A delete of ours was answered, and nothing of the object is left. */
  acceptDeletion(ref: ObjectRef, uid: string | undefined): void {
    const key = keyOf(ref);
    const current = this.#objects.get(key);
    if (current === undefined || uid === undefined || current.metadata.uid !== uid) return;
    this.#deleted.set(key, uid);
    this.#remove(key, current);
  }

  known(): string {
    return isLater(this.#ownVersion, this.#version) ? this.#ownVersion : this.#version;
  }

  owed(): ReadonlyMap<string, string | undefined> {
    return this.#deleted;
  }

  replace(objects: readonly T[], version: string, { isBack }: { readonly isBack: boolean }): void {
    // A store that was put back knows nothing of what we wrote later: then only what it says counts.
    const isOurs = (object: T): boolean => !isBack && isLater(versionOf(object), version);
    const isInitial = !this.isSynced;
    if (isBack) {
      this.#deleted.clear();
      this.#ownVersion = "";
    }
    const seen = new Set<string>();
    for (const object of objects) {
      const key = keyOf(refOf(object));
      seen.add(key);
      const current = this.#objects.get(key);
      if (current !== undefined && (isOurs(current) || isSame(current, object))) continue;
      if (this.#isDeleted(key, object)) continue;
      this.#put(key, this.#transform(object), { isInitial });
    }
    for (const [key, object] of this.#objects) {
      if (!seen.has(key) && !isOurs(object)) this.#remove(key, object);
    }
    for (const key of this.#deleted.keys()) if (!seen.has(key)) this.#deleted.delete(key);
    this.#version = version;
    this.#synced.open();
  }

  change(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void {
    const key = keyOf(refOf(object));
    const current = this.#objects.get(key);
    this.#version = versionOf(object);
    if (current !== undefined && !isLater(versionOf(object), versionOf(current))) return;
    if (type === "DELETED") {
      this.#deleted.delete(key);
      if (current !== undefined) this.#remove(key, current);
    } else if (!this.#isDeleted(key, object)) {
      this.#put(key, this.#transform(object));
    }
  }

  bookmark(version: string): void {
    this.#version = version;
  }

  *#those(keys: Iterable<string>): Generator<T, void, undefined> {
    for (const key of keys) {
      const object = this.#objects.get(key);
      if (object !== undefined) yield object;
    }
  }

  /** Whether this is a state of an object that we have deleted since. */
  #isDeleted(key: string, object: T): boolean {
    const uid = this.#deleted.get(key);
    if (uid === undefined) return false;
    if (uid === object.metadata.uid) return true;
    this.#deleted.delete(key);
    return false;
  }

  #put(key: string, object: T, { isInitial = false } = {}): void {
    const previous = this.#objects.get(key);
    if (previous !== undefined && previous.metadata.uid !== object.metadata.uid) {
      this.#remove(key, previous);
      this.#put(key, object);
      return;
    }
    this.#objects.set(key, object);
    this.#namespaces.put(key, [object.metadata.namespace ?? ""]);
    for (const { index, of } of this.#indexes.values()) index.put(key, of(object));
    if (previous === undefined) this.#announce({ type: "added", object, isInitial });
    else this.#announce({ type: "updated", object, previous });
  }

  #remove(key: string, object: T): void {
    this.#objects.delete(key);
    this.#namespaces.put(key, []);
    for (const { index } of this.#indexes.values()) index.put(key, []);
    this.#announce({ type: "deleted", object });
  }

  #announce(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function versionOf(object: KubeObject): string {
  return object.metadata.resourceVersion ?? "";
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return versionOf(a) === versionOf(b) && a.metadata.uid === b.metadata.uid;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
