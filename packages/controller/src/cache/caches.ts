// One cache for each kind and selection, however many need it.

import { Backoff, onAbort, TaskScope, type Clock, type Log, type Random } from "@keelson/base";
import {
  collectionOf,
  runReflector,
  type Client,
  type DynamicObject,
  type KubeObject,
  type ObjectKind,
  type ReflectorLimits,
  type ReflectorState,
  type Resource,
  type Selection,
} from "@keelson/client";
import {
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from "@keelson/kube";

import { CachedResource } from "../cached-resource.ts";
import type { ControllerMetrics } from "../metrics.ts";
import { CacheFigures } from "./cache-figures.ts";
import { fieldOf } from "./field-of.ts";
import { ObjectCache, type IndexFunction } from "./object-cache.ts";

export interface CachesOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  readonly reflector?: Partial<ReflectorLimits>;
}

export interface CacheOptions<T extends KubeObject = DynamicObject> extends Selection {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** What is kept of an object. Caches with one are not shared: two may keep different things. */
  readonly transform?: (object: T) => T;
}

/** How a cache fares. */
export interface CacheState extends ObjectKind {
  readonly selection: Selection;
  readonly state: ReflectorState;
  /** Why it does not follow its collection: the kind is not served, we may not, nobody answers. */
  readonly error?: unknown;
}

interface Kept {
  readonly name: string | undefined;
  readonly stop: AbortController;
  state: CacheState;
}

/**
 * The caches of one cluster. Each is kept level from when it is first asked for until it is dropped, or all are
 * disposed of.
 */
export class Caches implements AsyncDisposable {
  readonly #options: CachesOptions;
  readonly #scope: TaskScope;
  readonly #caches = new Map<string, ObjectCache>();
  readonly #kept = new Map<ObjectCache, Kept>();

  constructor(options: CachesOptions, signal: AbortSignal) {
    this.#options = options;
    this.#scope = new TaskScope(signal);
  }

  /**
   * The cache of a kind. At once, though it may be empty: see `untilSynced`. A kind that the cluster does not serve
   * yet is looked for until it does.
   */
  of<T extends KubeObject = DynamicObject>(
    kind: ObjectKind,
    options: CacheOptions<T> = {},
  ): ObjectCache<T> {
    const { indexes = {}, transform, ...selection } = options;
    const name = JSON.stringify([kind.apiVersion, kind.kind, ...selectionParts(selection)]);
    const known = transform === undefined ? this.#caches.get(name) : undefined;
    if (known !== undefined) {
      // Whoever asks names the type of the kind; the same kind has the same type for all.
      const cache = known as unknown as ObjectCache<T>;
      for (const [name, of] of Object.entries(indexes)) cache.addIndex(name, of);
      return cache;
    }
    const selects = selectorOf(selection);
    const cache = new ObjectCache<T>({
      indexes,
      selects,
      ...(transform === undefined ? {} : { transform }),
    });
    const shared = cache as unknown as ObjectCache;
    const isShared = transform === undefined;
    if (isShared) this.#caches.set(name, shared);
    const { apiVersion } = kind;
    const state: CacheState = { apiVersion, kind: kind.kind, selection, state: "syncing" };
    const kept: Kept = { name: isShared ? name : undefined, stop: new AbortController(), state };
    this.#kept.set(shared, kept);
    this.#scope.spawn(`cache of ${kind.kind}`, async (signal) => {
      using _stopping = onAbort(signal, () => kept.stop.abort(signal.reason));
      await this.#keepLevel(kind, { cache, selection, kept }, kept.stop.signal);
    });
    return cache;
  }

  /** A kind as a reconciler sees it: reads from its cache, writes to the cluster. */
  resource<T extends KubeObject = DynamicObject>(
    kind: ObjectKind,
    options: CacheOptions<T> = {},
  ): CachedResource<T> {
    const { client } = this.#options;
    return new CachedResource<T>({ client, kind, cache: this.of<T>(kind, options) });
  }

  /** Nobody needs a cache any more: it stays as it is, and is made anew for whoever asks next. */
  drop<T extends KubeObject>(cache: ObjectCache<T>): void {
    const shared = cache as unknown as ObjectCache;
    const kept = this.#kept.get(shared);
    if (kept === undefined) return;
    this.#kept.delete(shared);
    if (kept.name !== undefined) this.#caches.delete(kept.name);
    kept.stop.abort(new Error("the cache was dropped"));
  }

  /** How each cache fares. */
  get states(): readonly CacheState[] {
    return [...this.#kept.values()].map(({ state }) => state);
  }

  /** Whether every cache has its first state and follows its collection. For the readiness of a process. */
  get areLive(): boolean {
    return this.states.every(({ state }) => state === "live");
  }

  /** Resolves when every cache that was asked for has its first state. */
  async untilSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((cache) => cache.untilSynced(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope[Symbol.asyncDispose]();
  }

  async #keepLevel<T extends KubeObject>(
    kind: ObjectKind,
    {
      cache,
      selection,
      kept,
    }: {
      readonly cache: ObjectCache<T>;
      readonly selection: Selection;
      readonly kept: Kept;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock, random, metrics, reflector } = this.#options;
    const log = this.#options.log.child({ kind: kind.kind, apiVersion: kind.apiVersion });
    using figures = new CacheFigures(metrics, kind.kind);
    using _counting = cache.subscribe(() => figures.count(cache.size));
    const onState = (state: ReflectorState, error?: unknown): void => {
      const { error: _, ...before } = kept.state;
      kept.state = { ...before, state, ...(error === undefined ? {} : { error }) };
      figures.setLive(state === "live");
    };
    const resource = await this.#resolve(kind, { log, onState }, signal);
    if (resource === undefined) return;
    await runReflector<T>(
      {
        collection: collectionOf<T>({ client, resource, selection }),
        mirror: cache,
        clock,
        random,
        log,
        metrics: client.metrics,
        onState,
        ...(reflector === undefined ? {} : { limits: reflector }),
      },
      signal,
    );
  }

  /** Until the cluster serves the kind: its definition may come later. */
  async #resolve(
    kind: ObjectKind,
    { log, onState }: { log: Log; onState: (state: ReflectorState, error: unknown) => void },
    signal: AbortSignal,
  ): Promise<Resource | undefined> {
    const { client, clock, random } = this.#options;
    const backoff = new Backoff({ initialMs: 250, maxMs: 10_000, random });
    for (;;) {
      try {
        return await client.kinds.resolve(kind, signal);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (backoff.attempts === 0) log.warn({ error }, "a kind cannot be watched yet");
        onState("syncing", error);
        await clock.sleep(backoff.next(), signal).catch(() => undefined);
        if (signal.aborted) return undefined;
      }
    }
  }
}

function selectionParts({ namespace, labelSelector, fieldSelector }: Selection): string[] {
  return [namespace ?? "", labelSelector ?? "", fieldSelector ?? ""];
}

/** The selection as a rule of ours, for our own writes. */
function selectorOf(selection: Selection): (object: KubeObject) => boolean {
  const { namespace, labelSelector = "", fieldSelector = "" } = selection;
  const labels = parseLabelSelector(labelSelector);
  const fields = parseFieldSelector(fieldSelector);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    matchesLabels(labels, object.metadata.labels ?? {}) &&
    matchesFields(fields, (field) => fieldOf(object, field));
}
