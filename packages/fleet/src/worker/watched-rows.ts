// Which rows a target has, by what their objects are called.

import { keyOf } from "@keelson/client";
import type { Database } from "@keelson/database";
import { groupOf } from "../resources/kinds.ts";
import { readWatched, type WatchedRow } from "../sql/observations.ts";

/** A kind of which rows want objects; watched at the version of the newest of them. */
export interface WatchedKind {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** The rows of one target, as far as they were read. Several of one name are an old one being deleted and its successor. */
export class WatchedRows {
  readonly #rows = new Map<string, Map<string, Set<number>>>();
  readonly #places = new Map<number, { readonly kind: string; readonly key: string }>();
  readonly #kinds = new Map<string, WatchedKind>();
  #lastId = 0;

  /** Reads the rows that are new. */
  async refresh(database: Database, clusterId: string, signal: AbortSignal): Promise<void> {
    const rows = await database.run(readWatched, { clusterId, after: this.#lastId }, signal);
    for (const row of rows) this.#add(row);
  }

  get kinds(): readonly WatchedKind[] {
    return [...this.#kinds.values()];
  }

  /** The rows that an object of a kind may belong to. */
  of(kind: string, key: string): readonly number[] {
    return [...(this.#rows.get(kind)?.get(key) ?? [])];
  }

  /** Every name of a kind, with its rows. */
  *all(kind: string): Iterable<readonly [key: string, ids: ReadonlySet<number>]> {
    yield* this.#rows.get(kind) ?? [];
  }

  /** The row is gone. */
  forget(id: number): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#places.delete(id);
    const names = this.#rows.get(place.kind);
    const ids = names?.get(place.key);
    ids?.delete(id);
    if (ids?.size === 0) names?.delete(place.key);
  }

  #add({ id, api_version: apiVersion, kind, namespace, name }: WatchedRow): void {
    const kindId = `${groupOf(apiVersion)}/${kind}`;
    this.#kinds.set(kindId, { id: kindId, apiVersion, kind });
    const names = this.#rows.get(kindId) ?? new Map<string, Set<number>>();
    this.#rows.set(kindId, names);
    const key = keyOf({ namespace, name });
    names.set(key, (names.get(key) ?? new Set()).add(id));
    this.#places.set(id, { kind: kindId, key });
    this.#lastId = Math.max(this.#lastId, id);
  }
}
