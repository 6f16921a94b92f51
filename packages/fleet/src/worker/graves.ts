// What comes back after its row was purged: a request that was long on its way. It is taken away again.

import { isCancellation, type Log } from "@keelson/base";
import { isConflict, isNotFound, refOf, type Client, type DynamicObject } from "@keelson/client";
import type { Database } from "@keelson/database";
import { groupOf } from "../resources/kinds.ts";
import { findTombstones, type TombstoneRow } from "../sql/tombstones.ts";
import { markedRow } from "./mark.ts";
import type { WorkSignal } from "./work-signal.ts";

export interface GravesOptions {
  readonly clusterId: string;
  readonly client: Client;
  readonly database: Database;
  readonly log: Log;
  /** Who calls `close`. */
  readonly watch: WorkSignal;
}

/** Objects with our mark and our hand, and no row. Those of a tombstone, by id and key, are deleted. */
export class Graves {
  readonly #options: GravesOptions;
  readonly #returned = new Map<string, DynamicObject>();

  constructor(options: GravesOptions) {
    this.#options = options;
  }

  /** No row of its key is there. Looked at by the next `close`. */
  suspect(object: DynamicObject): void {
    const { uid = "" } = object.metadata;
    if (markedRow(object) === undefined) return;
    this.#returned.set(uid, object);
    this.#options.watch.wake();
  }

  /** Looks them up and deletes. Answers whether all is done: what could not be deleted is tried again by the next call. */
  async close(signal: AbortSignal): Promise<boolean> {
    if (this.#returned.size === 0) return true;
    const { database, clusterId } = this.#options;
    const returned = [...this.#returned];
    const ids = returned.map(([, object]) => markedRow(object) ?? 0);
    const rows = await database.run(findTombstones, { clusterId, ids }, signal);
    const tombstones = new Map(rows.map((row) => [row.resource_id, row]));
    for (const [uid, object] of returned) {
      const tombstone = tombstones.get(markedRow(object) ?? 0);
      const isBuried = tombstone !== undefined && isOf(tombstone, object);
      if (isBuried && !(await this.#delete(object, signal))) continue;
      if (this.#returned.get(uid) === object) this.#returned.delete(uid);
    }
    return this.#returned.size === 0;
  }

  /** As it was seen and not otherwise: had a new row taken it over since, it would be another version. */
  async #delete(object: DynamicObject, signal: AbortSignal): Promise<boolean> {
    const { client, log, clusterId } = this.#options;
    const { uid = "", resourceVersion = "" } = object.metadata;
    try {
      const objects = await client.resource(object, signal);
      await objects.delete(
        {
          ...refOf(object),
          preconditions: { uid, resourceVersion },
          propagationPolicy: "Background",
        },
        signal,
      );
      log.info(
        { cluster_id: clusterId, resource_id: markedRow(object) },
        "an object that came back after its deletion was removed",
      );
    } catch (error) {
      if (isCancellation(error, signal)) throw error;
      // Changed since: then its change brings it here again.
      if (isConflict(error) || isNotFound(error)) return true;
      log.warn({ error, cluster_id: clusterId }, "an object that came back was not removed yet");
      return false;
    }
    return true;
  }
}

function isOf(tombstone: TombstoneRow, { apiVersion, kind, metadata }: DynamicObject): boolean {
  const { namespace = "", name } = metadata;
  return (
    tombstone.api_group === groupOf(apiVersion) &&
    tombstone.kind === kind &&
    tombstone.namespace === namespace &&
    tombstone.name === name
  );
}
