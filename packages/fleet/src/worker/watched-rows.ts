// Which rows a target has, by what their objects are called.

import { keyOf, refOfKey } from "@keelson/client";
import type { Database } from "@keelson/database";
import { groupOf } from "../resources/kinds.ts";
import {
  kindsInUse,
  readHorizon,
  readLatest,
  readWatched,
  type WatchedRow,
} from "../sql/observations.ts";

/** A kind of which rows want objects; watched at a version that one of them has. */
export interface WatchedKind {
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** Where an object of a row is looked for. */
export interface RowPlace {
  /** The id of a `WatchedKind`. */
  readonly kind: string;
  readonly key: string;
}

/** A writer has its id for a moment before it counts as one: meanwhile no more ids than this are handed out. */
const unnumberedMax = 100;

/** The rows of one target, as far as they were read. Several of one name are an old one being deleted and its successor. */
export class WatchedRows {
  readonly #rows = new Map<string, Map<string, Set<number>>>();
  readonly #places = new Map<number, RowPlace>();
  readonly #kinds = new Map<string, WatchedKind>();
  /** No row up to here will appear any more. */
  #settledId = 0;
  /** The newest that was read; and the newest of which all who wrote when it was read are done. */
  #newestId = 0;
  #doneId = 0;
  /** What was the newest at some time, and a transaction that began after that. */
  #open: { readonly newestId: number; readonly latest: bigint } | undefined;

  /**
   * Reads the rows that are new, and those with these ids, old or new. An id is handed out before its row commits: one may
   * appear below another that was read already. So everything is read again from where all who wrote then are done.
   * Answers where those are that were not known before.
   */
  async refresh(
    database: Database,
    asked: { readonly clusterId: string; readonly ids: readonly number[] },
    signal: AbortSignal,
  ): Promise<readonly RowPlace[]> {
    // Before the rows: who is over by now has committed, and is among them.
    const [horizon] = await database.run(readHorizon, undefined, signal);
    const rows = await database.run(readWatched, { ...asked, after: this.#settledId }, signal);
    const added = rows.filter(({ id }) => !this.#places.has(id)).map((row) => this.#add(row));
    this.#newestId = Math.max(this.#newestId, rows.at(-1)?.id ?? 0);
    const open = this.#open;
    if (open !== undefined && BigInt(horizon?.first ?? 0) > open.latest) {
      this.#doneId = open.newestId;
      this.#settledId = Math.max(this.#settledId, open.newestId - unnumberedMax);
      this.#open = undefined;
    }
    if (this.isSettled || this.#open !== undefined) return added;
    // After the rows: who has not begun by now gets a later id.
    const [row] = await database.run(readLatest, undefined, signal);
    this.#open = { newestId: this.#newestId, latest: BigInt(row?.latest ?? 0) };
    return added;
  }

  /** False: one may be committed yet below those that were read, and of that nobody need hear. Rows must be read again. */
  get isSettled(): boolean {
    return this.#newestId <= this.#doneId;
  }

  /**
   * Which kinds are in use; also those of which something was deleted lately, since it may come back by a request that
   * was on its way. Of others nothing need be known any more. A kind that is watched stays at its version while some row
   * has that, unless it is `unserved`. After a `refresh`: what that has read is committed, and counts here.
   */
  async refreshKinds(
    database: Database,
    { clusterId, unserved }: { readonly clusterId: string; readonly unserved: ReadonlySet<string> },
    signal: AbortSignal,
  ): Promise<void> {
    const used = Map.groupBy(await database.run(kindsInUse, clusterId, signal), kindIdOf);
    for (const id of this.#kinds.keys()) if (!used.has(id)) this.#forgetKind(id);
    for (const [id, rows] of used) {
      const now = this.#kinds.get(id)?.apiVersion;
      const versions = rows.map(({ api_version: version }) => version);
      const isRight = now !== undefined && versions.includes(now) && !unserved.has(id);
      const apiVersion = isRight ? now : (versions.find((version) => version !== now) ?? now ?? "");
      this.#kinds.set(id, { id, apiVersion, kind: rows[0]?.kind ?? "" });
    }
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

  /** The namespaces in which rows want objects of a kind. */
  namespacesOf(kind: string): ReadonlySet<string> {
    const keys = [...(this.#rows.get(kind)?.keys() ?? [])];
    return new Set(keys.map((key) => refOfKey(key).namespace ?? ""));
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

  #add({ id, api_version: apiVersion, kind, namespace, name }: WatchedRow): RowPlace {
    const kindId = this.#addKind({ api_version: apiVersion, kind });
    const names = this.#rows.get(kindId) ?? new Map<string, Set<number>>();
    this.#rows.set(kindId, names);
    const key = keyOf({ namespace, name });
    names.set(key, (names.get(key) ?? new Set()).add(id));
    const place = { kind: kindId, key };
    this.#places.set(id, place);
    return place;
  }

  #addKind(row: KindRow): string {
    const id = kindIdOf(row);
    const { api_version: apiVersion, kind } = row;
    // One that is watched is left as it is: two rows may have two versions.
    if (!this.#kinds.has(id)) this.#kinds.set(id, { id, apiVersion, kind });
    return id;
  }

  #forgetKind(id: string): void {
    this.#kinds.delete(id);
    for (const ids of this.#rows.get(id)?.values() ?? []) {
      for (const row of ids) this.#places.delete(row);
    }
    this.#rows.delete(id);
  }
}

type KindRow = Pick<WatchedRow, "api_version" | "kind">;

function kindIdOf({ api_version: apiVersion, kind }: KindRow): string {
  return `${groupOf(apiVersion)}/${kind}`;
}
