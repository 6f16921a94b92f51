// Deleting: a gate, finalizers that are waited for, and an end.

import { RestError, type JsonObject } from "@keelson/base";
import type { Transaction } from "@keelson/database";
import { requireWriter, visible, type Caller } from "../access/access.ts";
import { kinds, type Kind } from "../kinds.ts";
import { logDone, writing, type Lifecycle } from "../lifecycle.ts";
import type { DeleteAsked } from "../resources/list-query.ts";
import { requireVersion, type IfMatch } from "../resources/preconditions.ts";
import { idsOf, type Resource } from "../resources/resource.ts";
import {
  dropFinalizers,
  findDone,
  finishDeletions,
  lockAll,
  lockNodepools,
  recordFinalizers,
  requestDeletion,
} from "../sql/deletions.ts";
import { lockResource, toResource } from "../sql/resources.ts";

/** How many one transaction finishes at most. */
const batchMax = 500;

export class Deletions {
  readonly #lifecycle: Lifecycle;

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle;
  }

  /**
   * Throws a `RestError` for whatever the caller is refused. Asking again asks for nothing, unless it is forced now, but for
   * nodepools that nobody has asked of: their cluster was deleted by SQL.
   */
  async delete(
    caller: Caller,
    at: DeleteAsked & { readonly kind: Kind; readonly id: string; readonly ifMatch: IfMatch },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireWriter(caller);
    const { kind, id, ifMatch, force } = at;
    const { resource, eventId } = await writing(
      this.#lifecycle,
      async (sql) => {
        const nowMs = this.#lifecycle.statuses.nowMs();
        const [row] = await sql.run(lockResource, { kind: kind.name, id, nowMs });
        const found = row === undefined ? undefined : toResource(kind.name, row);
        const resource = visible(caller, kind.name, found);
        requireVersion(resource, ifMatch);
        const isNew = resource.deletionTimestamp === null;
        if (isNew && kind.hasPhaseGate) await this.#requireOpenGate(sql, resource, at);
        const eventId = await this.#request(sql, caller, resource, { force, isNew });
        return { resource, ...(eventId === undefined ? {} : { eventId }) };
      },
      signal,
    );
    if (force || resource.deletionTimestamp === null) {
      const told = { ...resource, ...(eventId === undefined ? {} : { eventId }) };
      logDone(this.#lifecycle, caller, told, force ? "deletion forced" : "deletion requested");
    }
    await this.finishParent(resource, signal);
    return { message: `${kind.name} deletion initiated`, ...ownId(resource) };
  }

  /** Ends the deletions that have nothing left to wait for; gives which. The resources are locked. */
  async finish(
    sql: Pick<Transaction, "run">,
    kind: Kind,
    ids: readonly string[],
    caller: Caller,
  ): Promise<readonly string[]> {
    const asked = { kind: kind.name, ids, caller: caller.identity };
    const rows = await sql.run(finishDeletions, asked);
    return rows.map(({ id }) => id);
  }

  /**
   * Ends the deletion of the cluster whose nodepool is gone, if it waited for that. A transaction of its own: nobody who
   * holds a nodepool waits for its cluster. Should it fail, the next pass does it.
   */
  async finishParent({ kind, clusterId }: Resource, signal: AbortSignal): Promise<void> {
    if (kind !== "nodepool") return;
    try {
      await this.#finish(kinds.cluster, [clusterId], signal);
    } catch (error) {
      this.#lifecycle.log.warn({ cluster: clusterId, error }, "deletion not finished yet");
    }
  }

  /** Ends every deletion that has nothing left to wait for: nodepools first, then clusters. */
  async finishAll(signal: AbortSignal): Promise<void> {
    for (const kind of [kinds.nodepool, kinds.cluster]) {
      while ((await this.#finish(kind, null, signal)) === batchMax);
    }
  }

  /** Of `ids`, or of all whom nobody else has locked. */
  async #finish(kind: Kind, ids: readonly string[] | null, signal: AbortSignal): Promise<number> {
    const { database, outbox } = this.#lifecycle;
    const asked = { kind: kind.name, limit: batchMax };
    const found = ids ?? (await database.run(findDone, asked, signal)).map(({ id }) => id);
    if (found.length === 0) return 0;
    const finished = await database.transaction(async (sql) => {
      const locking = { kind: kind.name, ids: found, skipsLocked: ids === null };
      const locked = (await sql.run(lockAll, locking)).map(({ id }) => id);
      // In a statement after the lock: only then does it see whom the holder before us was told to wait for.
      return sql.run(finishDeletions, { kind: kind.name, ids: locked, caller: null });
    }, signal);
    if (finished.length > 0) outbox.wakeups.wakeHere(outbox.writtenChannel);
    return finished.length;
  }

  async #requireOpenGate(
    sql: Transaction,
    resource: Resource,
    { confirm, force }: DeleteAsked,
  ): Promise<void> {
    if (force && confirm === undefined) return;
    const { phase } = await this.#lifecycle.statuses.within(sql, resource);
    const isOpen = confirm === undefined ? openPhases.has(phase) : confirm === phase;
    if (isOpen) return;
    throw new RestError(
      "PHASE_FORBIDS_DELETE",
      confirm === undefined
        ? `the ${resource.kind} is ${phase}: delete it with confirm=${phase} or force=true`
        : `the ${resource.kind} is ${phase}, not ${confirm}`,
      { details: { phase } },
    );
  }

  async #request(
    sql: Transaction,
    caller: Caller,
    { kind, id }: Resource,
    { force, isNew }: { readonly force: boolean; readonly isNew: boolean },
  ): Promise<string | undefined> {
    // The cluster is locked, and whoever locks it locks its nodepools after it, in their order.
    const nodepools = kind === "cluster" ? await sql.run(lockNodepools, id) : [];
    const fresh = nodepools.filter(({ is_deleting }) => !is_deleting).map((row) => row.id);
    if (!isNew && !force && fresh.length === 0) return undefined;
    await this.#ask(sql, caller, kinds.nodepool, fresh, { force });
    const [eventId] = isNew ? await this.#ask(sql, caller, kinds[kind], [id], { force }) : [];
    const all = nodepools.map((row) => row.id);
    if (force) {
      await sql.run(dropFinalizers, { kind: "nodepool", ids: all });
      await sql.run(dropFinalizers, { kind, ids: [id] });
    }
    if (all.length > 0) await this.finish(sql, kinds.nodepool, all, caller);
    await this.finish(sql, kinds[kind], [id], caller);
    return eventId;
  }

  /** Gives the ids of the events that tell of it. */
  async #ask(
    sql: Transaction,
    caller: Caller,
    { name: kind }: Kind,
    ids: readonly string[],
    { force }: { readonly force: boolean },
  ): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const eventIds = ids.map(() => this.#lifecycle.random.uuid());
    if (!force) await sql.run(recordFinalizers, { kind, ids });
    await sql.run(requestDeletion, {
      kind,
      ids,
      eventIds,
      reason: force ? "force_deletion" : "deletion_requested",
      caller: caller.identity,
    });
    return eventIds;
  }
}

/** Where nothing is lost that anybody uses. */
const openPhases: ReadonlySet<string> = new Set(["Pending", "Failed"]);

function ownId(resource: Resource): JsonObject {
  const { nodepool_id: nodepoolId, cluster_id: clusterId } = idsOf(resource);
  return nodepoolId === undefined
    ? { cluster_id: clusterId ?? resource.id }
    : { nodepool_id: nodepoolId };
}
