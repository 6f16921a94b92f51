import { isJsonArray, isJsonObject, writeJson, type Json, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import type { CallOptions, Caller } from "./caller.ts";
import { isConflict, isExpired, isNotFound, UnexpectedAnswer } from "./errors.ts";
import { textOf } from "./json-parts.ts";
import type { Resource } from "./kinds.ts";
import type { DynamicObject, KubeObject, ObjectRef } from "./object.ts";
import { refOf } from "./object.ts";
import { pathOf, queryOf } from "./paths.ts";
import type { Method } from "./transport.ts";
import { openWatch, type WatchEvent, type WatchRequest } from "./watch.ts";

/** Which objects of a kind. */
export interface Selection {
  /** Left out: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ReadOptions extends CallOptions {
  readonly subresource?: string;
  /** Left out: the present. `"0"`: whatever the server has at hand. */
  readonly resourceVersion?: string;
}

export interface ListOptions extends Selection, CallOptions {
  /** Objects a page; 500 unless told. Zero asks for all at once. */
  readonly limit?: number;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

/** Objects, and the revision of which they are all. */
export interface List<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export interface WriteOptions extends CallOptions {
  /** Who will own the fields that are written. */
  readonly fieldManager?: string;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  /** Everything but storing. */
  readonly dryRun?: boolean;
  readonly subresource?: string;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take fields from whoever owns them; true unless told: two controllers that fight should be seen, not stuck. */
  readonly force?: boolean;
}

/** A change, in one of the server's formats. */
export type Patch =
  | { readonly type: "merge" | "strategic"; readonly body: JsonObject }
  | { readonly type: "json"; readonly body: readonly JsonObject[] };

export interface DeleteOptions extends CallOptions {
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

/** The most tries for a change that must see what it changes. */
const conflictTriesMax = 8;

/** The objects of one kind in one cluster. Every failure is an error of `Client.call`. */
export class ResourceClient<T extends KubeObject = DynamicObject> {
  readonly resource: Resource;
  readonly #caller: Caller;

  constructor(caller: Caller, resource: Resource) {
    this.#caller = caller;
    this.resource = resource;
  }

  /** An object as it is now. */
  async get(ref: ObjectRef & ReadOptions, signal: AbortSignal): Promise<T> {
    const { subresource, resourceVersion, ...rest } = ref;
    const path = pathOf(this.resource, { ...rest, subresource }) + queryOf({ resourceVersion });
    return this.#asObject(await this.#send("GET", path, { options: rest }, signal));
  }

  /** An object as it is now, or undefined if there is none. */
  async find(ref: ObjectRef & ReadOptions, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.get(ref, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Every object of a selection, all as of one revision. */
  async list(options: ListOptions, signal: AbortSignal): Promise<List<T>> {
    try {
      return await this.#gather(options, signal);
    } catch (error) {
      if (!isExpired(error) || options.resourceVersion !== undefined) throw error;
      // The snapshot was compacted while it was being paged: one page has no such trouble.
      return await this.#gather({ ...options, limit: 0 }, signal);
    }
  }

  /** The pages of a list, each as it comes. All are of one revision; an expired one rejects (`isExpired`). */
  async *pages(
    options: ListOptions,
    signal: AbortSignal,
  ): AsyncGenerator<List<T>, void, undefined> {
    const { namespace, labelSelector, fieldSelector, limit = 500, ...rest } = options;
    const { resourceVersion, resourceVersionMatch, ...call } = rest;
    const selection = { labelSelector, fieldSelector, limit: limit === 0 ? undefined : limit };
    const path = pathOf(this.resource, { namespace });
    let from: Parameters<typeof queryOf>[0] = { resourceVersion, resourceVersionMatch };
    for (;;) {
      const query = queryOf({ ...selection, ...from });
      const body = await this.#send("GET", path + query, { options: call }, signal);
      const { items, metadata } = this.#asList(body);
      yield { items, resourceVersion: metadata.resourceVersion };
      if (metadata.continue === "") return;
      from = { continue: metadata.continue };
    }
  }

  /** The changes of a selection, as `openWatch` has them. Whoever needs all of them for long has a reflector. */
  async watch(request: WatchRequest, signal: AbortSignal): Promise<AsyncIterable<WatchEvent<T>>> {
    return await openWatch<T>(this.#caller, { ...request, resource: this.resource }, signal);
  }

  async create(object: T, options: WriteOptions, signal: AbortSignal): Promise<T> {
    const { namespace } = refOf(object);
    const name = options.subresource === undefined ? undefined : object.metadata.name;
    const path = pathOf(this.resource, { namespace, name, subresource: options.subresource });
    return this.#asObject(
      await this.#send("POST", path + writeQuery(options), { body: object, options }, signal),
    );
  }

  /** Replaces an object. With a resource version in it, only if it is still at that one (`isConflict`). */
  async update(object: T, options: WriteOptions, signal: AbortSignal): Promise<T> {
    const path = pathOf(this.resource, { ...refOf(object), subresource: options.subresource });
    return this.#asObject(
      await this.#send("PUT", path + writeQuery(options), { body: object, options }, signal),
    );
  }

  /** Server-side apply: makes the fields in `object` ours and so, and lets go of those that were ours before. */
  async apply(
    object: KubeObject & Partial<T>,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<T> {
    const { force = true } = options;
    const path = pathOf(this.resource, { ...refOf(object), subresource: options.subresource });
    const type = "application/apply-patch+yaml";
    return this.#asObject(
      await this.#send(
        "PATCH",
        path + writeQuery(options, { force: String(force) }),
        { body: object, options, type },
        signal,
      ),
    );
  }

  /** Applies the status, and nothing else, of an object that is there. */
  async applyStatus(
    ref: ObjectRef,
    status: Json,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<T> {
    const { apiVersion, kind } = this.resource;
    const { name, namespace } = ref;
    const metadata = namespace === undefined ? { name } : { name, namespace };
    const object = { apiVersion, kind, metadata, status } as unknown as KubeObject & Partial<T>;
    return await this.apply(object, { ...options, subresource: "status" }, signal);
  }

  async patch(
    ref: ObjectRef,
    patch: Patch & { readonly options?: WriteOptions },
    signal: AbortSignal,
  ): Promise<T> {
    const { options = {} } = patch;
    const path = pathOf(this.resource, { ...ref, subresource: options.subresource });
    const type = patchTypes[patch.type];
    return this.#asObject(
      await this.#send(
        "PATCH",
        path + writeQuery(options),
        { body: patch.body, options, type },
        signal,
      ),
    );
  }

  /**
   * Deletes an object. Resolves with what remains of it, while finalizers or a grace period hold it, or with
   * undefined when it is gone, be it since before.
   */
  async delete(ref: ObjectRef & DeleteOptions, signal: AbortSignal): Promise<T | undefined> {
    const path = pathOf(this.resource, ref);
    let body: Json | undefined;
    try {
      body = await this.#send("DELETE", path, { body: deleteBody(ref), options: ref }, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    if (!isJsonObject(body) || memberOf(body, "kind") === "Status") return undefined;
    const object = this.#asObject(body);
    const { deletionTimestamp } = object.metadata;
    // Some kinds answer with what they deleted; only a mark of deletion says that it is still there.
    return deletionTimestamp === undefined ? undefined : await this.#remainsOf(object, ref, signal);
  }

  /** Deletes every object of a selection, one after the other. */
  async deleteCollection(
    options: Selection & DeleteOptions & { readonly limit?: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, labelSelector, fieldSelector, limit } = options;
    const path = pathOf(this.resource, { namespace });
    const query = queryOf({ labelSelector, fieldSelector, limit });
    await this.#send("DELETE", path + query, { body: deleteBody(options), options }, signal);
  }

  /** Adds a finalizer, unless it is there: then nothing is sent. Undefined when the object is gone, and does not have it. */
  async addFinalizer(object: T, finalizer: string, signal: AbortSignal): Promise<T | undefined> {
    return await this.#changeFinalizers(
      object,
      (present) => (present.includes(finalizer) ? present : [...present, finalizer]),
      signal,
    );
  }

  /** Takes a finalizer away, unless it is gone. Undefined when the object went with it. */
  async removeFinalizer(object: T, finalizer: string, signal: AbortSignal): Promise<T | undefined> {
    const changed = await this.#changeFinalizers(
      object,
      (present) =>
        present.includes(finalizer) ? present.filter((one) => one !== finalizer) : present,
      signal,
    );
    if (changed === undefined) return undefined;
    const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = changed.metadata;
    // The answer to taking the last one is the last state of an object that is gone.
    const isGone = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
    return isGone && finalizers.length === 0 ? undefined : changed;
  }

  /** With a precondition on the version: two who change the list at once must not undo each other. */
  async #changeFinalizers(
    object: T,
    change: (present: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const ref = refOf(object);
    let seen: T | undefined = object;
    for (let attempt = 1; seen !== undefined; attempt += 1) {
      const { uid, resourceVersion = "", finalizers = [] } = seen.metadata;
      if (uid !== object.metadata.uid) return undefined; // Another one of the same name.
      const wanted = change(finalizers);
      if (wanted === finalizers) return seen;
      try {
        const body = { metadata: { resourceVersion, finalizers: wanted } };
        return await this.patch(ref, { type: "merge", body }, signal);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        if (!isConflict(error) || attempt === conflictTriesMax) throw error;
        seen = await this.find(ref, signal);
      }
    }
    return undefined;
  }

  /** A Pod without a grace period is answered with its last state and is gone already. */
  async #remainsOf(
    object: T,
    ref: ObjectRef & DeleteOptions,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
    if (finalizers.length > 0 || deletionGracePeriodSeconds > 0 || ref.dryRun === true)
      return object;
    const { name, namespace } = ref;
    return await this.find(namespace === undefined ? { name } : { name, namespace }, signal);
  }

  async #gather(options: ListOptions, signal: AbortSignal): Promise<List<T>> {
    const items: T[] = [];
    let resourceVersion = "";
    for await (const page of this.pages(options, signal)) {
      for (const item of page.items) items.push(item);
      resourceVersion = page.resourceVersion;
    }
    return { items, resourceVersion };
  }

  async #send(
    method: Method,
    path: string,
    { body, options, type = "application/json" }: SendParts,
    signal: AbortSignal,
  ): Promise<Json | undefined> {
    const { timeoutMs, priority } = options;
    const answer = await this.#caller.call(
      {
        method,
        path,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": type }),
        },
        // Objects are JSON by their types; the compiler cannot see that of an interface.
        ...(body === undefined ? {} : { body: writeJson(body as Json) }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(priority === undefined ? {} : { priority }),
      },
      signal,
    );
    return answer.body;
  }

  #asObject(body: Json | undefined): T {
    if (isJsonObject(body) && isJsonObject(memberOf(body, "metadata"))) return body as unknown as T;
    throw new UnexpectedAnswer(
      `the server answered with something that is no ${this.resource.kind}`,
    );
  }

  /** The items of a list do not say their kind. */
  #asList(body: Json | undefined): {
    items: T[];
    metadata: { resourceVersion: string; continue: string };
  } {
    const items = isJsonObject(body) ? memberOf(body, "items") : undefined;
    const metadata = isJsonObject(body) ? memberOf(body, "metadata") : undefined;
    if (!isJsonArray(items) || !isJsonObject(metadata)) {
      throw new UnexpectedAnswer(
        `the server answered with something that is no list of ${this.resource.kind}`,
      );
    }
    const { apiVersion, kind } = this.resource;
    return {
      items: items.map((item) => this.#asObject({ apiVersion, kind, ...(item as JsonObject) })),
      metadata: {
        resourceVersion: textOf(memberOf(metadata, "resourceVersion")),
        continue: textOf(memberOf(metadata, "continue")),
      },
    };
  }
}

interface SendParts {
  readonly body?: unknown;
  readonly options: CallOptions;
  readonly type?: string;
}

const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const satisfies Record<Patch["type"], string>;

function writeQuery(
  { fieldManager, fieldValidation, dryRun }: WriteOptions,
  more: Readonly<Record<string, string>> = {},
): string {
  const dry = dryRun === true ? "All" : undefined;
  return queryOf({ fieldManager, fieldValidation, dryRun: dry, ...more });
}

function deleteBody(options: DeleteOptions): JsonObject {
  const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun } = options;
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === true ? { dryRun: ["All"] } : {}),
  };
}
