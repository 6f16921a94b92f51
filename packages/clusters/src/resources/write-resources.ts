// Declaring and changing: each call a statement or a transaction, with its event.

import { refuseProblems, RestError, validationFailed, type JsonObject } from "@keelson/base";
import { UniqueViolation, type Transaction } from "@keelson/database";
import { requireWriter, visible, type Caller } from "../access/access.ts";
import { restore } from "../access/secrets.ts";
import { kinds, type Kind } from "../kinds.ts";
import { logDone, toCaller, writing, type Lifecycle } from "../lifecycle.ts";
import type { NewCluster, NewNodepool } from "../schema.ts";
import { appendEvents, type NewEvent } from "../sql/events.ts";
import {
  insertClusters,
  insertNodepool,
  lockResource,
  resetDecay,
  setEnabled,
  shareCluster,
  toMadeCluster,
  toResource,
  updateResource,
  type MadeRow,
  type NewResource,
} from "../sql/resources.ts";
import { GatheredWrites } from "./gathered-writes.ts";
import { requireGeneration, requireVersion, type IfMatch } from "./preconditions.ts";
import { shownAs, type Shown } from "./read-resources.ts";
import { idsOf, type Resource } from "./resource.ts";
import { checkName, clusterSpec, nodepoolSpec } from "./spec-rules.ts";
import { isUuid } from "./uuid.ts";

export interface Change {
  readonly name?: string;
  readonly spec: JsonObject;
  /** Undefined leaves it as it is. */
  readonly targetProjectId: string | null | undefined;
  readonly expectedGeneration: number | undefined;
  readonly ifMatch: IfMatch;
}

/** Every method throws a `RestError` for whatever the caller is refused. */
export class ResourceWriter {
  readonly #lifecycle: Lifecycle;
  readonly #newClusters: GatheredWrites<NewResource, MadeRow | undefined>;

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle;
    const { database, outbox } = lifecycle;
    this.#newClusters = new GatheredWrites({
      write: async (all) => {
        // Whose request it is does not matter: one that goes away leaves the others their answer.
        const rows = await database.run(insertClusters, all, never);
        outbox.wakeups.wakeHere(outbox.writtenChannel);
        const written = new Map(rows.map((row) => [row.id, row]));
        return all.map(({ id }) => written.get(id));
      },
    });
  }

  /** Anyone may, and owns the result. */
  async createCluster(caller: Caller, body: NewCluster, signal: AbortSignal): Promise<Shown> {
    requireWriter(caller);
    checkName(body.name);
    const spec = clusterSpec(withoutMarkers(body.spec), this.#lifecycle.defaults);
    const row = this.#newRow(caller, {
      kind: kinds.cluster,
      name: body.name,
      spec,
      createdBy: caller.identity.user,
      platform: body.spec.platform.type,
      clusterId: undefined,
      targetProjectId: body.target_project_id ?? null,
    });
    const made = await this.#newClusters.run(row, signal).catch((error: unknown) => {
      throw toCaller(error);
    });
    if (made === undefined) throw nameTaken(kinds.cluster, body.name);
    const resource = toMadeCluster(row, made);
    const { eventId } = row.event;
    logDone(this.#lifecycle, caller, { ...resource, eventId }, "created");
    return shownAs({ resource, status: resource.cached });
  }

  /** In a cluster of the caller's, or for a controller in any; it belongs to the cluster's owner. */
  async createNodepool(caller: Caller, body: NewNodepool, signal: AbortSignal): Promise<Shown> {
    requireWriter(caller);
    checkName(body.name);
    const { statuses } = this.#lifecycle;
    const unknown = validationFailed({ field: "cluster_id", message: "is no cluster of yours" });
    if (!isUuid(body.cluster_id)) {
      throw validationFailed({ field: "cluster_id", message: "must be a UUID" });
    }
    const sent = withoutMarkers((body.spec ?? {}) as JsonObject);
    const insert = async (sql: Transaction) => {
      const asked = { id: body.cluster_id, nowMs: statuses.nowMs() };
      const [found] = await sql.run(shareCluster, asked);
      const cluster = found === undefined ? undefined : toResource("cluster", found);
      const isTheirs = caller.isController || cluster?.createdBy === caller.identity.user;
      if (cluster === undefined || !isTheirs) throw unknown;
      if (cluster.deletionTimestamp !== null) throw deleting(cluster);
      const spec = nodepoolSpec(sent, cluster.spec);
      const row = this.#newRow(caller, {
        kind: kinds.nodepool,
        name: body.name,
        spec,
        createdBy: cluster.createdBy,
        platform: platformOf(spec) ?? cluster.platform,
        clusterId: cluster.id,
        targetProjectId: null,
      });
      const [written] = await sql.run(insertNodepool, row);
      if (written === undefined) throw new TypeError("a new nodepool gave no row");
      return { resource: toResource("nodepool", written), eventId: row.event.eventId };
    };
    try {
      const { resource, eventId } = await writing(this.#lifecycle, insert, signal);
      logDone(this.#lifecycle, caller, { ...resource, eventId }, "created");
      return shownAs({ resource, status: resource.cached });
    } catch (error) {
      const isTaken =
        error instanceof UniqueViolation && error.constraint === "nodepools_live_name";
      throw isTaken ? nameTaken(kinds.nodepool, body.name) : error;
    }
  }

  /** Replaces the spec. Where nothing would change nothing is written, and nobody is told. */
  async update(
    caller: Caller,
    { kind, id, ...change }: Change & { readonly kind: Kind; readonly id: string },
    signal: AbortSignal,
  ): Promise<Shown> {
    requireWriter(caller);
    const { statuses } = this.#lifecycle;
    const updated = await writing(
      this.#lifecycle,
      async (sql) => {
        const resource = await this.#lock(sql, caller, { kind, id });
        if (resource.deletionTimestamp !== null) throw deleting(resource);
        requireVersion(resource, change.ifMatch);
        requireGeneration(resource, change.expectedGeneration);
        if (change.name !== undefined && change.name !== resource.name) {
          throw validationFailed({ field: "name", message: `stays ${resource.name}` });
        }
        const spec = this.#changedSpec(resource, change.spec);
        const { targetProjectId = resource.targetProjectId } = change;
        const event = this.#event(caller, resource, {
          type: `${kind.name}.updated`,
          reason: "spec_change",
          platform: platformOf(spec) ?? resource.platform,
        });
        const [row] = await sql.run(updateResource, {
          kind: kind.name,
          id,
          spec,
          targetProjectId,
          event,
          nowMs: statuses.nowMs(),
        });
        const written = row === undefined ? resource : toResource(kind.name, row);
        // Before the commit: whoever is told of a failure knows that nothing was done.
        const status = written.isStale ? await statuses.settleWithin(sql, written) : written.cached;
        return { resource: written, status, isChanged: row !== undefined, eventId: event.eventId };
      },
      signal,
    );
    const { resource, eventId } = updated;
    if (updated.isChanged) logDone(this.#lifecycle, caller, { ...resource, eventId }, "updated");
    return shownAs(updated);
  }

  /** Announces the resource now, whatever the schedule says. */
  async reconcile(
    caller: Caller,
    at: { readonly kind: Kind; readonly id: string },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireWriter(caller);
    const { kind } = at;
    const event = await writing(
      this.#lifecycle,
      async (sql) => {
        const resource = await this.#lock(sql, caller, at);
        await sql.run(resetDecay, { kind: kind.name, id: resource.id });
        const type = `${kind.name}.reconcile` as const;
        const event = this.#event(caller, resource, { type, reason: "manual_trigger" });
        await sql.run(appendEvents, [event]);
        return { ...event, resource };
      },
      signal,
    );
    const { resource, eventId } = event;
    logDone(this.#lifecycle, caller, { ...resource, eventId }, "reconciliation triggered");
    return {
      message: `${kind.name} reconciliation triggered`,
      ...idsOf(resource),
      event_id: eventId,
    };
  }

  /** Scheduled announcements on or off; changes are announced all the same. */
  async setEnabled(
    caller: Caller,
    at: { readonly kind: Kind; readonly id: string; readonly enabled: boolean },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    requireWriter(caller);
    const { kind, enabled } = at;
    const resource = await writing(
      this.#lifecycle,
      async (sql) => {
        const locked = await this.#lock(sql, caller, at);
        await sql.run(setEnabled, { kind: kind.name, id: locked.id, enabled });
        return locked;
      },
      signal,
    );
    logDone(this.#lifecycle, caller, resource, enabled ? "resumed" : "paused");
    return { ...idsOf(resource), enabled };
  }

  async #lock(
    sql: Transaction,
    caller: Caller,
    { kind, id }: { readonly kind: Kind; readonly id: string },
  ): Promise<Resource> {
    const nowMs = this.#lifecycle.statuses.nowMs();
    const [row] = await sql.run(lockResource, { kind: kind.name, id, nowMs });
    return visible(caller, kind.name, row === undefined ? undefined : toResource(kind.name, row));
  }

  #changedSpec(resource: Resource, sent: JsonObject): JsonObject {
    const { spec, problems } = restore(sent, resource.spec);
    refuseProblems(problems);
    return resource.kind === "cluster"
      ? clusterSpec(spec, this.#lifecycle.defaults, resource.spec)
      : nodepoolSpec(spec, resource.spec);
  }

  #newRow(
    caller: Caller,
    row: {
      readonly kind: Kind;
      readonly name: string;
      readonly spec: JsonObject;
      readonly createdBy: string;
      readonly platform: string;
      /** Undefined for a cluster, which is its own. */
      readonly clusterId: string | undefined;
      readonly targetProjectId: string | null;
    },
  ): NewResource {
    const { random, statuses } = this.#lifecycle;
    const { kind, name, spec, createdBy, platform, targetProjectId } = row;
    const id = random.uuid();
    const clusterId = row.clusterId ?? id;
    const nowMs = statuses.nowMs();
    // Nobody can have reported; who is expected to is counted by the first who calculates.
    const { status } = statuses.settle({
      facts: {
        generation: 1,
        generationChangedAtMs: nowMs,
        isDeleting: false,
        reports: [],
        registered: [],
        retired: [],
      },
      previous: undefined,
    });
    const event = this.#event(
      caller,
      { kind: kind.name, id, clusterId, generation: 1, createdBy, platform },
      { type: `${kind.name}.created`, reason: `${kind.name}_created` },
    );
    return {
      id,
      clusterId,
      name,
      spec,
      status: status as unknown as JsonObject,
      createdBy,
      targetProjectId,
      organizationId: caller.identity.organizationId ?? null,
      event,
      nowMs,
    };
  }

  #event(
    caller: Caller,
    resource: Pick<Resource, "kind" | "id" | "clusterId" | "generation" | "createdBy" | "platform">,
    what: Pick<NewEvent, "type" | "reason"> & { readonly platform?: string },
  ): NewEvent {
    const { kind, id, clusterId, generation, createdBy, platform } = resource;
    return {
      eventId: this.#lifecycle.random.uuid(),
      clusterId,
      nodepoolId: kind === "nodepool" ? id : null,
      generation,
      platform,
      createdBy,
      caller: caller.identity,
      ...what,
    };
  }
}

/** Throws for a marker: a new resource has nothing that it could stand for. */
function withoutMarkers(spec: JsonObject): JsonObject {
  refuseProblems(restore(spec, undefined).problems);
  return spec;
}

function platformOf(spec: JsonObject): string | undefined {
  const { platform } = spec as { readonly platform?: { readonly type?: unknown } };
  return typeof platform?.type === "string" ? platform.type : undefined;
}

function deleting({ kind, name }: Resource): RestError {
  return new RestError("RESOURCE_DELETING", `${kind} ${name} is being deleted`);
}

function nameTaken(kind: Kind, name: string): RestError {
  return new RestError(kind.nameTaken, `a ${kind.name} named ${JSON.stringify(name)} exists`);
}

const never = new AbortController().signal;
