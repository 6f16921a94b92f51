// The objects in the cluster that an app is made of: applied when something would change, never taken from anybody, and
// removed when nobody wants them any more.

import {
  isConflict,
  isNotFound,
  keyOf,
  refOf,
  UnknownKind,
  type Client,
  type DynamicObject,
  type ObjectKind,
  type ObjectRef,
} from "@keelson/client";
import type { CachedResource, Caches } from "@keelson/controller";

import type { App } from "../app.ts";
import { isOwnedBy, ownerKey, parseOwner } from "../ownership/owner.ts";
import { StepError } from "../steps/step-error.ts";
import { fieldManager, managedByLabel } from "./child.ts";
import { isApplied } from "./is-applied.ts";

export interface ChildrenOptions {
  readonly client: Client;
  readonly caches: Caches;
  /** Told of every object that was written or removed for an app. */
  readonly onChange?: (app: App, object: DynamicObject) => void;
}

export class Children {
  readonly #client: Client;
  readonly #caches: Caches;
  readonly #onChange: NonNullable<ChildrenOptions["onChange"]>;
  readonly #resources = new Map<string, CachedResource>();

  constructor({ client, caches, onChange = () => undefined }: ChildrenOptions) {
    this.#client = client;
    this.#caches = caches;
    this.#onChange = onChange;
  }

  /** What is ours of a kind: the cache holds nothing else. */
  of({ apiVersion, kind }: ObjectKind): CachedResource {
    const name = `${apiVersion} ${kind}`;
    const known = this.#resources.get(name);
    if (known !== undefined) return known;
    const labelSelector = `${managedByLabel}=${fieldManager}`;
    const options = { labelSelector, transform: withOurFields };
    const resource = this.#caches.resource({ apiVersion, kind }, options);
    this.#resources.set(name, resource);
    return resource;
  }

  /** Resolves once all that is ours has been seen, of the kinds that were asked for and that the cluster serves. */
  async untilSeen(signal: AbortSignal): Promise<void> {
    const seen = [...this.#resources.values()].map(async ({ kind, cache }) => {
      if (await this.#isServed(kind, signal)) await cache.untilSynced(signal);
    });
    await Promise.all(seen);
  }

  /** The child as it was last seen, if it is there and the app's. */
  async find(
    app: App,
    { apiVersion, kind, name }: ObjectKind & { readonly name: string },
    signal: AbortSignal,
  ): Promise<DynamicObject | undefined> {
    await this.#untilServed({ apiVersion, kind }, signal);
    const found = await this.of({ apiVersion, kind }).find(
      { namespace: app.namespace, name },
      signal,
    );
    return found !== undefined && isChildOf(app, found) ? found : undefined;
  }

  /** As `find`; the cluster itself is asked where no cache has it, for what must not be made twice. */
  async findNow(
    app: App,
    ref: ObjectKind & { readonly name: string },
    signal: AbortSignal,
  ): Promise<DynamicObject | undefined> {
    const { apiVersion, kind, name } = ref;
    const object = { apiVersion, kind, metadata: { name, namespace: app.namespace } };
    const found = (await this.find(app, ref, signal)) ?? (await this.#ask(object, signal));
    return found !== undefined && isChildOf(app, found) ? found : undefined;
  }

  /** Whether an object of ours, as it was last seen, was made for another app, or was taken from this one. */
  async isSomebodyElses(
    app: App,
    { apiVersion, kind, ...ref }: ObjectKind & ObjectRef,
    signal: AbortSignal,
  ): Promise<boolean> {
    await this.#untilServed({ apiVersion, kind }, signal);
    const found = await this.of({ apiVersion, kind }).find(ref, signal);
    return found !== undefined && !isChildOf(app, found);
  }

  /** The app's children of a kind as they were last seen. */
  async list(app: App, kind: ObjectKind, signal: AbortSignal): Promise<DynamicObject[]> {
    await this.#untilServed(kind, signal);
    const all = await this.of(kind).list({ namespace: app.namespace }, signal);
    return all.filter((object) => isChildOf(app, object));
  }

  /** Removes what is the app's, if it is there. */
  async remove(
    app: App,
    ref: ObjectKind & { readonly name: string },
    signal: AbortSignal,
  ): Promise<void> {
    const found = await this.findNow(app, ref, signal);
    if (found !== undefined) await this.#remove(app, found, signal);
  }

  /**
   * Makes an object so, and gives it as it then is; without a write where it is so already. Throws a `StepError` for one
   * of that name that is not the app's.
   */
  async apply(app: App, desired: DynamicObject, signal: AbortSignal): Promise<DynamicObject> {
    await this.#untilServed(desired, signal);
    const resource = this.of(desired);
    const seen =
      (await resource.find(refOf(desired), signal)) ?? (await this.#ask(desired, signal));
    if (seen !== undefined) {
      if (!isChildOf(app, seen)) throw foreign(seen);
      if (isApplied(desired, seen)) return seen;
    }
    const applied = await resource.apply(desired, { fieldManager }, signal);
    const isChanged = applied.metadata.resourceVersion !== seen?.metadata.resourceVersion;
    if (isChanged) this.#onChange(app, applied);
    return applied;
  }

  /** Whether nobody has touched these since they were applied, as far as was seen. */
  areUntouched(applied: readonly DynamicObject[]): boolean {
    return applied.every((object) => {
      const seen = this.of(object).cache.get(refOf(object));
      return seen?.metadata.resourceVersion === object.metadata.resourceVersion;
    });
  }

  /** Removes the app's children of these kinds but those that are kept; gives those that are still going. */
  async prune(
    app: App,
    {
      kinds,
      kept,
    }: { readonly kinds: readonly ObjectKind[]; readonly kept: readonly DynamicObject[] },
    signal: AbortSignal,
  ): Promise<readonly DynamicObject[]> {
    const going: DynamicObject[] = [];
    for (const kind of kinds) {
      const names = new Set(
        kept.filter((object) => object.kind === kind.kind).map((object) => keyOf(refOf(object))),
      );
      if (!(await this.#isServed(kind, signal))) continue;
      for (const object of await this.list(app, kind, signal)) {
        if (names.has(keyOf(refOf(object)))) continue;
        const remains = await this.#remove(app, object, signal);
        if (remains !== undefined) going.push(remains);
      }
    }
    return going;
  }

  /** Throws `UnknownKind` for a kind that the cluster does not serve: its cache would be waited for in vain. */
  async #untilServed(kind: ObjectKind, signal: AbortSignal): Promise<void> {
    if (!this.of(kind).cache.isSynced) await this.#client.kinds.resolve(kind, signal);
  }

  async #isServed(kind: ObjectKind, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#untilServed(kind, signal);
      return true;
    } catch (error) {
      if (error instanceof UnknownKind) return false; // Then there is nothing of it either.
      throw error;
    }
  }

  /** What remains of it, if anything does. */
  async #remove(
    app: App,
    object: DynamicObject,
    signal: AbortSignal,
  ): Promise<DynamicObject | undefined> {
    const { uid, deletionTimestamp } = object.metadata;
    if (deletionTimestamp !== undefined) return object;
    const resource = this.of(object);
    const ref: ObjectRef = refOf(object);
    try {
      // This very one: another of the same name may be somebody's.
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      const options = { ...ref, ...preconditions, propagationPolicy: "Background" } as const;
      const remains = await resource.delete(options, signal);
      this.#onChange(app, object);
      return remains;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return undefined;
      throw error;
    }
  }

  /** The cluster itself: an object without our label is in no cache of ours. */
  async #ask(desired: DynamicObject, signal: AbortSignal): Promise<DynamicObject | undefined> {
    return (await this.#client.resource(desired, signal)).find(refOf(desired), signal);
  }
}

/** Which fields are ours tells whether an apply would change anything; which are others' need not be kept. */
function withOurFields(object: DynamicObject): DynamicObject {
  const { managedFields = [], ...metadata } = object.metadata;
  const ours = managedFields.filter(({ manager }) => manager === fieldManager);
  return { ...object, metadata: { ...metadata, managedFields: ours } };
}

/** Whether an object was made for this very app, and not for another of the same name. */
export function isChildOf({ kind, owner }: App, { metadata }: DynamicObject): boolean {
  const { ownerReferences = [], annotations = {} } = metadata;
  return kind === "PreviewEnvironment"
    ? isOwnedBy(parseOwner(annotations[ownerKey]), owner)
    : ownerReferences.some(({ uid }) => uid === owner.uid);
}

/** An object of that name is there, and is not the app's. */
export function foreign({ kind, metadata }: DynamicObject): StepError {
  const { name = "", annotations = {}, ownerReferences = [] } = metadata;
  const owner = parseOwner(annotations[ownerKey]);
  const controller = ownerReferences.find((one) => one.controller === true);
  const whose =
    owner !== undefined
      ? `${owner.namespace}/${owner.name}`
      : controller === undefined
        ? "nobody we know"
        : `${controller.kind} ${controller.name}`;
  return new StepError(
    "Conflict",
    `${kind} ${name} is there already and belongs to ${whose}: it is left alone`,
  );
}
