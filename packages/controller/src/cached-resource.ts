// A kind as a reconciler sees it: reads from the cache, writes to the cluster, and the cache knows of the writes.

import type { Json } from "@keelson/base";
import {
  refOf,
  type ApplyOptions,
  type Client,
  type DeleteOptions,
  type DynamicObject,
  type KubeObject,
  type ObjectKind,
  type ObjectRef,
  type Patch,
  type ResourceClient,
  type WriteOptions,
} from "@keelson/client";

import type { ObjectCache } from "./cache/object-cache.ts";

export interface CachedResourceOptions<T extends KubeObject> {
  readonly client: Client;
  readonly kind: ObjectKind;
  readonly cache: ObjectCache<T>;
}

/**
 * Reads wait for the first state of the cache and never go to the cluster. A read after a write through this
 * sees the write or what came after it (C6), so no expectations need to be kept.
 */
export class CachedResource<T extends KubeObject = DynamicObject> {
  readonly kind: ObjectKind;
  readonly cache: ObjectCache<T>;
  readonly #client: Client;

  constructor({ client, kind, cache }: CachedResourceOptions<T>) {
    this.kind = kind;
    this.cache = cache;
    this.#client = client;
  }

  /** The object, or undefined if there is none. */
  async find(ref: ObjectRef, signal: AbortSignal): Promise<T | undefined> {
    await this.cache.untilSynced(signal);
    return this.cache.get(ref);
  }

  /** All objects, or those of a namespace. */
  async list(options: { readonly namespace?: string }, signal: AbortSignal): Promise<T[]> {
    await this.cache.untilSynced(signal);
    return [...this.cache.list(options)];
  }

  /** The objects under a value of an index. */
  async byIndex(name: string, value: string, signal: AbortSignal): Promise<T[]> {
    await this.cache.untilSynced(signal);
    return [...this.cache.byIndex(name, value)];
  }

  async create(object: T, options: WriteOptions, signal: AbortSignal): Promise<T> {
    const objects = await this.#objects(signal);
    return this.#keep(await objects.create(object, options, signal), options);
  }

  async update(object: T, options: WriteOptions, signal: AbortSignal): Promise<T> {
    const objects = await this.#objects(signal);
    return this.#keep(await objects.update(object, options, signal), options);
  }

  /** Server-side apply; see `ResourceClient.apply`. */
  async apply(
    object: KubeObject & Partial<T>,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<T> {
    const objects = await this.#objects(signal);
    return this.#keep(await objects.apply(object, options, signal), options);
  }

  async applyStatus(
    ref: ObjectRef,
    status: Json,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<T> {
    const objects = await this.#objects(signal);
    return this.#keep(await objects.applyStatus(ref, status, options, signal), options);
  }

  async patch(
    ref: ObjectRef,
    patch: Patch & { readonly options?: WriteOptions },
    signal: AbortSignal,
  ): Promise<T> {
    const objects = await this.#objects(signal);
    return this.#keep(await objects.patch(ref, patch, signal), patch.options ?? {});
  }

  /** Resolves with what remains of the object, or with undefined when it is gone. */
  async delete(ref: ObjectRef & DeleteOptions, signal: AbortSignal): Promise<T | undefined> {
    const objects = await this.#objects(signal);
    // What we believe to delete, seen before: another of the same name may come meanwhile.
    const uid = this.cache.get(ref)?.metadata.uid;
    const remains = await objects.delete(ref, signal);
    if (ref.dryRun === true) return remains;
    if (remains === undefined) this.cache.acceptDeletion(ref, uid);
    else this.cache.accept(remains);
    return remains;
  }

  /** Resolves with the object, or with undefined when it is gone, and does not have it. */
  async addFinalizer(object: T, finalizer: string, signal: AbortSignal): Promise<T | undefined> {
    const objects = await this.#objects(signal);
    return this.#keepRemains(object, await objects.addFinalizer(object, finalizer, signal));
  }

  /** Resolves with what remains of the object, or with undefined when it is gone. */
  async removeFinalizer(object: T, finalizer: string, signal: AbortSignal): Promise<T | undefined> {
    const objects = await this.#objects(signal);
    return this.#keepRemains(object, await objects.removeFinalizer(object, finalizer, signal));
  }

  #keepRemains(before: T, remains: T | undefined): T | undefined {
    if (remains !== undefined) return this.#keep(remains, {});
    this.cache.acceptDeletion(refOf(before), before.metadata.uid);
    return undefined;
  }

  #keep(object: T, { dryRun, subresource }: WriteOptions): T {
    // Other subresources answer with objects of other kinds.
    const isWhole = subresource === undefined || subresource === "status";
    if (dryRun !== true && isWhole && object.kind === this.kind.kind) this.cache.accept(object);
    return object;
  }

  async #objects(signal: AbortSignal): Promise<ResourceClient<T>> {
    return await this.#client.resource<T>(this.kind, signal);
  }
}
