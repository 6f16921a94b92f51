// The objects of a kind, in memory, following the store: for what is asked on every request.

import { Backoff, type Clock, type JsonObject, type Log, type Random } from "@keelson/base";
import {
  type Change,
  Expired,
  type Key,
  type Revision,
  type Selector,
  type Store,
} from "@keelson/store";

export interface MirrorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The store's name of the kind: `ClusterRole.rbac.authorization.k8s.io`. */
  readonly kind: string;
  /** Which of them; all unless told. */
  readonly selector?: Selector;
}

/** An object as the store has it, with the revision of its last change. */
export interface Mirrored {
  readonly key: Key;
  readonly object: JsonObject;
  readonly uid: string;
  readonly revision: Revision;
}

/** What happened to one object. */
export type MirrorChange =
  | { readonly type: "set"; readonly entry: Mirrored; readonly previous: Mirrored | undefined }
  /** At this revision, or by then. */
  | { readonly type: "deleted"; readonly previous: Mirrored; readonly revision: Revision };

/**
 * The objects of one kind, or those of them that a selector chooses, as of `revision`. It lags behind the store by as long as a watch does; `reached` waits.
 * Listeners are called in the order of changes, synchronously, after the mirror shows the change; they must
 * not throw.
 */
export class Mirror {
  readonly #options: MirrorOptions;
  readonly #objects = new Map<string, Mirrored>();
  readonly #listeners = new Set<(change: MirrorChange) => void>();
  readonly #ready = Promise.withResolvers<void>();
  #revision: Revision = 0;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** Resolves once the first state is there. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Every change of the kind up to this revision is shown. */
  get revision(): Revision {
    return this.#revision;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): Mirrored | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  values(): IterableIterator<Mirrored> {
    return this.#objects.values();
  }

  /** Calls `listener` for every change from now on, until the answer is disposed of. */
  onChange(listener: (change: MirrorChange) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Follows until `signal` aborts; whatever fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log, kind } = this.#options;
    const backoff = new Backoff({ random, initialMs: 50, maxMs: 5_000 });
    let from: Revision | "state" = "state";
    while (!signal.aborted) {
      try {
        from = await this.#follow(from, signal);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Expired) from = "state";
        else log.warn({ kind, error }, "the mirror lost its watch");
        await clock.sleep(backoff.next(), signal);
      }
    }
  }

  /** Watches until the stream ends; answers where to go on. */
  async #follow(from: Revision | "state", signal: AbortSignal): Promise<Revision | "state"> {
    const { store, kind, selector = {} } = this.#options;
    const scope = { kind, namespace: "" };
    using watch = await store.watch(
      scope,
      { from, selector, initialEventsEnd: true, bookmarkEveryMs: 10_000 },
      signal,
    );
    /** What the new state has shown so far; undefined once it is complete. */
    let seen: Set<string> | undefined = from === "state" ? new Set() : undefined;
    for await (const batch of watch.batches()) {
      for (const item of batch) {
        if (item.type !== "BOOKMARK") {
          seen?.add(placeOf(item.key));
          this.#apply(item);
        } else if (seen !== undefined && item.initialEventsEnd) {
          this.#dropUnseen(seen, item.revision);
          seen = undefined;
          this.#ready.resolve();
        }
        this.#revision = Math.max(this.#revision, seen === undefined ? item.revision : 0);
      }
    }
    return seen === undefined ? watch.position : "state";
  }

  #apply(change: Change): void {
    const place = placeOf(change.key);
    const previous = this.#objects.get(place);
    if (change.type === "DELETED") {
      this.#objects.delete(place);
      const { revision } = change;
      if (previous !== undefined) this.#tell({ type: "deleted", previous, revision });
      return;
    }
    if (previous?.revision === change.revision) return;
    const { key, uid, revision } = change;
    const entry: Mirrored = { key, uid, revision, object: change.body.value };
    this.#objects.set(place, entry);
    this.#tell({ type: "set", entry, previous });
  }

  /** After a gap, what the new state does not show is gone. */
  #dropUnseen(seen: ReadonlySet<string>, revision: Revision): void {
    for (const [place, previous] of this.#objects) {
      if (seen.has(place)) continue;
      this.#objects.delete(place);
      this.#tell({ type: "deleted", previous, revision });
    }
  }

  #tell(change: MirrorChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function placeOf({ namespace, name }: Key): string {
  return `${namespace}/${name}`;
}
