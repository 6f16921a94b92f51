// Follows one kind of a cluster, from the moment on at which the cluster serves it.

import {
  Backoff,
  isCancellation,
  onAbort,
  type Clock,
  type Log,
  type Random,
  type TaskScope,
} from "@keelson/base";
import {
  collectionOf,
  ConnectionFailed,
  DeadlineExceeded,
  hasCode,
  isExpired,
  refOfKey,
  runReflector,
  UnknownKind,
  type Client,
  type Collection,
  type DynamicObject,
} from "@keelson/client";
import { type watchRestartReasons, type WorkerMetrics } from "./metrics.ts";
import type { Observer } from "./observer.ts";
import { RowMirror } from "./row-mirror.ts";
import type { WatchedKind, WatchedRows } from "./watched-rows.ts";

export interface KindWatchOptions {
  readonly clusterId: string;
  readonly kind: WatchedKind;
  readonly client: Client;
  readonly rows: WatchedRows;
  readonly observer: Observer;
  readonly scope: TaskScope;
  readonly onStranger: (id: number) => void;
  readonly onNobodys: (object: DynamicObject) => void;
  /** The cluster does not serve the kind at this version, or not any more. */
  readonly onUnknown: (kind: WatchedKind) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
}

/** Throughout the cluster; or, where that is forbidden, in each namespace that some row names. */
export class KindWatch {
  readonly #options: KindWatchOptions;
  readonly #mirrors = new Map<string | undefined, RowMirror>();
  readonly #ended = new AbortController();
  /** Objects that were nobody's until a row came to want them, and that were not read since. */
  readonly #late = new Set<string>();
  #isReadingLate = false;
  #isByNamespace = false;
  #tryNow = Promise.withResolvers<void>();

  constructor(options: KindWatchOptions) {
    this.#options = options;
  }

  /** Begins, in the scope of the watcher. */
  start(): void {
    this.#spawn(undefined);
  }

  /** Nobody wants to know any more. */
  stop(): void {
    this.#ended.abort();
  }

  /** The cluster serves it now: if it could not be watched, it can. */
  tryNow(): void {
    this.#tryNow.resolve();
  }

  get kind(): WatchedKind {
    return this.#options.kind;
  }

  /** Rows were read: those that were asked for, and new ones, whose objects have these names. */
  rowsChanged(asked: ReadonlySet<number>, added: Iterable<string>): void {
    for (const mirror of this.#mirrors.values()) mirror.lookAgain(asked);
    if (this.#isByNamespace) this.#followNamespaces();
    for (const key of added) if (this.#mirrorOfOther(key) !== undefined) this.#late.add(key);
    if (this.#late.size === 0 || this.#isReadingLate) return;
    this.#isReadingLate = true;
    this.#options.scope.spawn(`late objects of ${this.kind.id}`, () => this.#readLate());
  }

  /** One after the other: most are applied meanwhile, and then the watch tells of them. */
  async #readLate(): Promise<void> {
    const { client, log, clusterId } = this.#options;
    const { signal } = this.#ended;
    try {
      for (const key of this.#late) {
        if (this.#mirrorOfOther(key) !== undefined) {
          const objects = await client.resource(this.kind, signal);
          const object = await objects.find(refOfKey(key), signal);
          if (object !== undefined) this.#mirrorOfOther(key)?.tellOther(key, object);
        }
        this.#late.delete(key);
      }
    } catch (error) {
      // The cluster is away, most likely: tried again when rows are read next.
      if (isCancellation(error, signal)) return;
      log.debug({ error, cluster_id: clusterId }, "an object that a row wants was not read yet");
    } finally {
      this.#isReadingLate = false;
    }
  }

  #mirrorOfOther(key: string): RowMirror | undefined {
    return this.#mirrors.values().find((mirror) => mirror.isOther(key));
  }

  #followNamespaces(): void {
    const { rows, kind } = this.#options;
    for (const namespace of rows.namespacesOf(kind.id)) {
      if (!this.#mirrors.has(namespace)) this.#spawn(namespace);
    }
  }

  #spawn(namespace: string | undefined): void {
    const { kind, scope } = this.#options;
    const mirror = new RowMirror({ ...this.#options, kind: kind.id, namespace });
    this.#mirrors.set(namespace, mirror);
    const name = `watch of ${kind.id} in ${namespace ?? "all namespaces"}`;
    scope.spawn(name, async (within) => {
      using _end = onAbort(within, () => this.#ended.abort(within.reason));
      await this.#follow(namespace, mirror, this.#ended.signal);
    });
  }

  async #follow(
    namespace: string | undefined,
    mirror: RowMirror,
    signal: AbortSignal,
  ): Promise<void> {
    const { kind, client, clock, random, log, clusterId } = this.#options;
    const backoff = new Backoff({ initialMs: 250, maxMs: 10_000, random });
    while (!signal.aborted) {
      try {
        const { apiVersion, kind: name } = kind;
        const resource = await client.kinds.resolve({ apiVersion, kind: name }, signal);
        const selection = namespace === undefined ? {} : { namespace };
        const onAsked = (): void => mirror.asked(clock.monotonic());
        const collection = telling(collectionOf({ client, resource, selection }), onAsked);
        const isWhole = namespace === undefined && resource.isNamespaced;
        const stop = new AbortController();
        using _stop = onAbort(signal, () => stop.abort(signal.reason));
        const onState = (_state: string, error?: unknown): void => {
          if (error === undefined) return;
          this.#options.metrics.watchRestarts.add({ reason: reasonOf(error) });
          if (isWhole && hasCode(error, 403)) stop.abort();
        };
        const shared = { clock, random, log, metrics: client.metrics };
        await runReflector({ collection, mirror, ...shared, onState }, stop.signal);
        if (signal.aborted || !isWhole) continue;
        log.info({ cluster_id: clusterId, kind: name }, "watching a kind namespace by namespace");
        this.#isByNamespace = true;
        this.#mirrors.delete(undefined);
        this.#followNamespaces();
        return;
      } catch (error) {
        if (isCancellation(error, signal)) return;
        if (error instanceof UnknownKind) this.#options.onUnknown(kind);
        log.debug(
          { error, cluster_id: clusterId, kind: kind.kind },
          "a kind cannot be watched yet",
        );
        await this.#pause(backoff.next(), signal);
      }
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.#options.clock.after(ms, resolve);
    using _stop = onAbort(signal, resolve);
    await Promise.race([promise, this.#tryNow.promise]);
    this.#tryNow = Promise.withResolvers();
  }
}

/** Says when a collection is asked for as a whole. */
function telling(collection: Collection, onAsked: () => void): Collection {
  return {
    ...collection,
    list: (signal) => {
      onAsked();
      return collection.list(signal);
    },
    watch: (request, signal) => {
      if (request.sendInitialEvents === true) onAsked();
      return collection.watch(request, signal);
    },
  };
}

/** A closed set of words, for a metric. */
function reasonOf(error: unknown): (typeof watchRestartReasons)[number] {
  if (isExpired(error)) return "expired";
  if (hasCode(error, 401)) return "unauthorized";
  if (hasCode(error, 403)) return "forbidden";
  if (error instanceof ConnectionFailed) return "connection";
  if (error instanceof DeadlineExceeded) return "silence";
  return "other";
}
