// After a commit the hub hands its changes to every watcher that is level. One reader, any number of watchers.

import { untilAbort } from "@keelson/base";
import type { Change, Filter } from "./change.ts";
import type { Delivery } from "./delivery.ts";
import type { LogReader } from "./log-reader.ts";
import type { Revision } from "./revision.ts";

/** A watcher as the hub sees it. */
export interface Subscriber {
  readonly filter: Filter;
  /**
   * Takes changes that matter to it, in order. Must not block; what it cannot hold it reads from the log. It holds the
   * delivery for as long as it has them.
   */
  push(changes: readonly Change[], cursorBefore: Revision, delivery: Delivery): void;
  /** Told when the hub has lost its place: the subscriber is no longer subscribed. */
  fallBehind(cursorBefore: Revision): void;
  fail(error: unknown): void;
}

interface Group {
  readonly filter: Filter;
  readonly subscribers: Set<Subscriber>;
}

/**
 * Publishes the log, in order and without gaps, from its cursor on.
 *
 * Watchers with equal filters form a group, for which a batch is filtered once;
 * they share the array and the changes in it.
 */
export class WatchHub {
  readonly #reader: LogReader;
  #cursor: Revision;
  readonly #kinds = new Map<string, Map<string, Group>>();
  readonly #arrivals = new Set<{ readonly revision: Revision; readonly resolve: () => void }>();

  constructor(options: { readonly reader: LogReader; readonly cursor: Revision }) {
    this.#reader = options.reader;
    this.#cursor = options.cursor;
  }

  /** Every change at or below it has been published. */
  get cursor(): Revision {
    return this.#cursor;
  }

  subscribe(subscriber: Subscriber): void {
    const { kind, signature } = subscriber.filter;
    const groups = this.#kinds.get(kind) ?? new Map<string, Group>();
    this.#kinds.set(kind, groups);
    const group = groups.get(signature) ?? { filter: subscriber.filter, subscribers: new Set() };
    groups.set(signature, group);
    group.subscribers.add(subscriber);
  }

  unsubscribe(subscriber: Subscriber): void {
    const { kind, signature } = subscriber.filter;
    const groups = this.#kinds.get(kind);
    const group = groups?.get(signature);
    if (groups === undefined || group === undefined) return;
    group.subscribers.delete(subscriber);
    if (group.subscribers.size > 0) return;
    groups.delete(signature);
    if (groups.size === 0) this.#kinds.delete(kind);
  }

  /** Publishes every change after the cursor up to `through`. */
  publish(changes: readonly Change[], through: Revision, delivery: Delivery): void {
    const before = this.#cursor;
    this.#reader.append(changes, through);
    this.#cursor = through; // S9: the cursor advances by whole batches, with the changes in hand.
    for (const [kind, ofKind] of Map.groupBy(changes, ({ key }) => key.kind)) {
      for (const group of this.#kinds.get(kind)?.values() ?? [])
        publishTo(group, ofKind, { before, delivery });
    }
    this.#announce();
  }

  /** Goes on at `cursor` though changes before it are lost to the hub: every watcher reads the log itself. */
  skipTo(cursor: Revision): void {
    const before = this.#cursor;
    this.#reader.restart(cursor);
    this.#cursor = cursor;
    const subscribers = this.#kinds
      .values()
      .flatMap((groups) => groups.values())
      .flatMap((group) => group.subscribers);
    const all = [...subscribers];
    this.#kinds.clear();
    for (const subscriber of all) subscriber.fallBehind(before);
    this.#announce();
  }

  /** Resolves once the cursor is at `revision`; rejects with the signal's reason. */
  async reached(revision: Revision, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#cursor >= revision) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const arrival = { revision, resolve };
    this.#arrivals.add(arrival);
    try {
      await untilAbort(promise, signal);
    } finally {
      this.#arrivals.delete(arrival);
    }
  }

  #announce(): void {
    for (const arrival of this.#arrivals) {
      if (arrival.revision <= this.#cursor) arrival.resolve();
    }
  }
}

function publishTo(
  { filter, subscribers }: Group,
  changes: readonly Change[],
  { before, delivery }: { readonly before: Revision; readonly delivery: Delivery },
): void {
  let seen: readonly Change[];
  try {
    seen = changes.map((change) => filter.see(change)).filter((change) => change !== undefined);
  } catch (error) {
    // A body that cannot be decoded must not stop the others' stream.
    for (const subscriber of subscribers) subscriber.fail(error);
    return;
  }
  if (seen.length === 0) return;
  for (const subscriber of subscribers) subscriber.push(seen, before, delivery);
}
