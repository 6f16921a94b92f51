// The tables `clusters` and `nodepools`: what users declare. Triggers do the rest of a write
// (0002-writes-by-sql.sql, 0006-schedules-begin-together.sql).

import { isJsonObject, readJson, writeJson, type JsonObject } from "@keelson/base";
import { statement, type Sql } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { Resource } from "../resources/resource.ts";
import { cachedStatus } from "../status/status.ts";
import { callerOf, callerText, insertEvents, type NewEvent } from "./events.ts";
import { isStale, tables } from "./tables.ts";

/** A row as the driver gives it; the spec as text, because a parsed number may have lost digits. */
export interface ResourceRow {
  readonly id: string;
  readonly cluster_id: string;
  readonly name: string;
  readonly spec: string;
  readonly status: unknown;
  readonly created_by: string;
  readonly generation: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly target_project_id: string | null;
  readonly organization_id: string | null;
  readonly resource_version: string;
  readonly deletion_timestamp: Date | null;
  readonly deleted_at: Date | null;
  readonly platform: string | null;
  readonly is_stale: boolean;
}

export function toResource(kind: KindName, row: ResourceRow): Resource {
  return {
    kind,
    id: row.id,
    clusterId: row.cluster_id,
    name: row.name,
    spec: specOf(row.spec),
    cached: cachedStatus(row.status),
    createdBy: row.created_by,
    generation: Number(row.generation),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    targetProjectId: row.target_project_id,
    organizationId: row.organization_id,
    resourceVersion: row.resource_version,
    deletionTimestamp: row.deletion_timestamp,
    deletedAt: row.deleted_at,
    platform: row.platform ?? "",
    isStale: row.is_stale,
  };
}

/** SQL may store what is no object: that reads as an empty spec. */
function specOf(text: string): JsonObject {
  const spec = readJson(text);
  return isJsonObject(spec) ? spec : {};
}

/** The columns of a `ResourceRow`, of `r`. */
export const columns = (sql: Sql, kind: KindName, nowMs: number) => sql`
  r.id, ${tables[kind].clusterId(sql)} AS cluster_id, r.name, r.spec::text AS spec, r.status, r.created_by,
  r.generation, r.created_at, r.updated_at, r.target_project_id, r.organization_id, r.resource_version,
  r.deletion_timestamp, r.deleted_at, ${tables[kind].platform(sql)} AS platform,
  ${isStale(sql, nowMs)} AS is_stale`;

export interface Asked {
  readonly kind: KindName;
  readonly id: string;
  readonly nowMs: number;
}

/** Tombstones too: who may see one is decided above. */
export const findResource = statement<Asked, ResourceRow>(
  "findResource",
  (sql, { kind, id, nowMs }) => sql`
    SELECT ${columns(sql, kind, nowMs)} FROM ${tables[kind].from(sql)} WHERE r.id = ${id}`,
);

/** Several at once, in any order. */
export const findResources = statement<
  Omit<Asked, "id"> & { readonly ids: readonly string[] },
  ResourceRow
>(
  "findResources",
  (sql, { kind, ids, nowMs }) => sql`
    SELECT ${columns(sql, kind, nowMs)} FROM ${tables[kind].from(sql)} WHERE r.id = ANY (${ids}::uuid[])`,
);

/** Writers of one resource wait here for each other. Not FOR UPDATE: foreign keys of its reports would wait too. */
export const lockResource = statement<Asked, ResourceRow>(
  "lockResource",
  (sql, { kind, id, nowMs }) => sql`
    SELECT ${columns(sql, kind, nowMs)} FROM ${tables[kind].from(sql)}
    WHERE r.id = ${id} AND r.deleted_at IS NULL FOR NO KEY UPDATE OF r`,
);

/** Who adds a nodepool keeps its cluster from being deleted meanwhile, and no other from being added. */
export const shareCluster = statement<Omit<Asked, "kind">, ResourceRow>(
  "shareCluster",
  (sql, { id, nowMs }) => sql`
    SELECT ${columns(sql, "cluster", nowMs)} FROM clusters r
    WHERE r.id = ${id} AND r.deleted_at IS NULL FOR SHARE`,
);

export interface NewResource {
  readonly id: string;
  /** Its own for a cluster. */
  readonly clusterId: string;
  readonly name: string;
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly createdBy: string;
  readonly targetProjectId: string | null;
  readonly organizationId: string | null;
  readonly event: NewEvent;
  readonly nowMs: number;
}

/** What the database has added to a new cluster. */
export interface MadeRow {
  readonly id: string;
  readonly created_at: Date;
  readonly resource_version: string;
}

/** The cluster as it was written; nobody has changed it yet. */
export function toMadeCluster(row: NewResource, made: MadeRow): Resource {
  return {
    kind: "cluster",
    id: row.id,
    clusterId: row.id,
    name: row.name,
    spec: row.spec,
    cached: cachedStatus(row.status),
    createdBy: row.createdBy,
    generation: 1,
    createdAt: made.created_at,
    updatedAt: made.created_at,
    targetProjectId: row.targetProjectId,
    organizationId: row.organizationId,
    resourceVersion: made.resource_version,
    deletionTimestamp: null,
    deletedAt: null,
    platform: row.event.platform.toLowerCase(),
    isStale: true,
  };
}

/**
 * Clusters with their schedules (by a trigger) and their events, in one statement. Those whose name is taken are not
 * written and not in the answer; by name, so that two statements with the same names do not wait for each other in a
 * circle. As one JSON text: arrays are planned anew each time, because their length may be another. What we know already
 * does not come back.
 */
export const insertClusters = statement<readonly NewResource[], MadeRow>(
  "insertClusters",
  (sql, rows) => sql`
    WITH given AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${writeJson(rows.map(sent))}::text::jsonb) AS given (
        id uuid, name text, spec jsonb, status jsonb, created_by text, target_project_id text,
        organization_id text, event_id uuid, platform text, caller jsonb)
    ), r AS (
      INSERT INTO clusters (id, name, spec, status, created_by, target_project_id, organization_id)
      SELECT id, name, spec, status, created_by, target_project_id, organization_id
      FROM given ORDER BY created_by, name
      ON CONFLICT (created_by, name) WHERE deleted_at IS NULL DO NOTHING
      RETURNING id, created_at, resource_version
    ), told AS (
      ${insertEvents(
        sql,
        sql`
          SELECT given.event_id, 'cluster.created' AS type, r.id AS cluster_id, NULL::uuid AS nodepool_id,
                 1::bigint AS generation, given.platform, 'cluster_created' AS reason, given.created_by,
                 given.caller, NULL::jsonb AS metadata
          FROM r JOIN given ON given.id = r.id`,
      )}
    )
    SELECT id, created_at, resource_version FROM r`,
);

function sent(row: NewResource): JsonObject {
  const { event } = row;
  return {
    id: row.id,
    name: row.name,
    spec: row.spec,
    status: row.status,
    created_by: row.createdBy,
    target_project_id: row.targetProjectId,
    organization_id: row.organizationId,
    event_id: event.eventId,
    platform: event.platform,
    caller: callerOf(event.caller),
  };
}

/** The row, its schedule (by a trigger) and its event, in one statement. */
export const insertNodepool = statement<NewResource, ResourceRow>(
  "insertNodepool",
  (sql, { event, ...row }) => sql`
    WITH r AS (
      INSERT INTO nodepools
        (id, cluster_id, name, spec, status, created_by, target_project_id, organization_id)
      VALUES
        (${row.id}, ${row.clusterId}, ${row.name}, ${writeJson(row.spec)}::text::jsonb,
         ${writeJson(row.status)}::text::jsonb, ${row.createdBy}, ${row.targetProjectId}, ${row.organizationId})
      RETURNING *
    ), told AS (
      ${insertEvents(
        sql,
        sql`
          SELECT ${event.eventId}::uuid AS event_id, ${event.type}::text AS type,
                 ${event.clusterId}::uuid AS cluster_id, ${event.nodepoolId}::uuid AS nodepool_id, r.generation,
                 ${event.platform}::text AS platform, ${event.reason}::text AS reason, r.created_by::text,
                 ${callerText(event.caller)}::text::jsonb AS caller, NULL::jsonb AS metadata
          FROM r`,
      )}
    )
    SELECT ${columns(sql, "nodepool", row.nowMs)} FROM r JOIN clusters c ON c.id = r.cluster_id`,
);

export interface ChangedResource {
  readonly kind: KindName;
  readonly id: string;
  readonly spec: JsonObject;
  readonly targetProjectId: string | null;
  /** Its generation is the new one's, whatever it says. */
  readonly event: NewEvent;
  readonly nowMs: number;
}

/** No row: everything was like that already, and nothing is written. By value: 1.0 is 1. */
export const updateResource = statement<ChangedResource, ResourceRow>(
  "updateResource",
  (sql, { kind, id, spec, targetProjectId, event, nowMs }) => sql`
    WITH r AS (
      UPDATE ${sql(tables[kind].resources)}
      SET spec = ${writeJson(spec)}::text::jsonb, target_project_id = ${targetProjectId}
      WHERE id = ${id}
        AND (spec, target_project_id) IS DISTINCT FROM
            (${writeJson(spec)}::text::jsonb, ${targetProjectId}::varchar)
      RETURNING *
    ), told AS (
      ${insertEvents(
        sql,
        sql`
          SELECT ${event.eventId}::uuid AS event_id, ${event.type}::text AS type,
                 ${event.clusterId}::uuid AS cluster_id, ${event.nodepoolId}::uuid AS nodepool_id, r.generation,
                 ${event.platform}::text AS platform, ${event.reason}::text AS reason, r.created_by::text,
                 ${callerText(event.caller)}::text::jsonb AS caller, NULL::jsonb AS metadata
          FROM r`,
      )}
    )
    SELECT ${columns(sql, kind, nowMs)} FROM r
    ${kind === "nodepool" ? sql`JOIN clusters c ON c.id = r.cluster_id` : sql``}`,
);

/** Scheduled announcements on or off. What is so already is not written. */
export const setEnabled = statement<{
  readonly kind: KindName;
  readonly id: string;
  readonly enabled: boolean;
}>(
  "setEnabled",
  (sql, { kind, id, enabled }) => sql`
    UPDATE ${sql(tables[kind].schedule)} SET enabled = ${enabled}, updated_at = clock_timestamp()
    WHERE ${sql(tables[kind].key)} = ${id} AND enabled IS DISTINCT FROM ${enabled}`,
);

/** Somebody asks: announcements that nobody answered are forgotten. */
export const resetDecay = statement<{ readonly kind: KindName; readonly id: string }>(
  "resetDecay",
  (sql, { kind, id }) => sql`
    UPDATE ${sql(tables[kind].schedule)}
    SET unanswered = 0, updated_at = clock_timestamp(),
        next_reconcile_at = least(next_reconcile_at, clock_timestamp() + interval '30 s')
    WHERE ${sql(tables[kind].key)} = ${id}`,
);
