// The table `global_resources`: what users want in many clusters. Triggers write the copies (0007-global-copies.sql).

import { isJsonObject, readJson, writeJson, type JsonObject } from "@keelson/base";
import { statement, type Sql } from "@keelson/database";
import type { GlobalResource } from "../globals/global-resource.ts";
import {
  columns as copyColumns,
  toResource,
  type Inserted,
  type ResourceRow,
} from "./resources.ts";
import type { RevisionRow } from "./resource-details.ts";

/** Whoever changes a global resource or a target takes this first, and holds it until the commit. */
export const holdGlobals = statement<undefined>("holdGlobals", (sql) => sql`SELECT lock_globals()`);

/** As a resource of no cluster, with its selector. */
export interface GlobalRow extends ResourceRow {
  readonly selector: string | null;
  readonly created_at: string;
}

export function toGlobal(row: GlobalRow): GlobalResource {
  const selector = row.selector === null ? null : readJson(row.selector);
  return { ...toResource(row), selector: isJsonObject(selector) ? selector : null };
}

const columns = (sql: Sql) => sql`
  g.id, '' AS cluster_id, g.namespace, g.kind, g.name, coalesce(g.api_version, '') AS api_version, g.generation,
  g.revision, g.desired_spec::text AS desired_spec, g.conflict_policy, g.drift_policy, g.immutable_policy,
  g.propagation, g.paused, NULL::integer AS global_id, g.deleted_at IS NOT NULL AS is_deleting,
  g.selector::text AS selector, shown(g.created_at AT TIME ZONE 'UTC') AS created_at`;

const selectorText = (selector: JsonObject | null): string | null =>
  selector === null ? null : writeJson(selector);

/** No row: the key is taken. */
export const insertGlobal = statement<
  Inserted & { readonly selector: JsonObject | null },
  GlobalRow
>(
  "insertGlobal",
  (sql, { desiredSpec, selector, ...row }) => sql`
    INSERT INTO global_resources AS g
      (namespace, kind, name, api_version, desired_spec, revision, conflict_policy, drift_policy, immutable_policy,
       propagation, paused, selector)
    VALUES
      (${row.namespace}, ${row.kind}, ${row.name}, ${row.apiVersion}, ${writeJson(desiredSpec)}::text::jsonb,
       ${row.revision}, ${row.conflictPolicy}, ${row.driftPolicy}, ${row.immutablePolicy}, ${row.propagation},
       ${row.paused}, ${selectorText(selector)}::text::jsonb)
    ON CONFLICT DO NOTHING
    RETURNING ${columns(sql)}`,
  { deadlineMs: 60_000 },
);

export const findGlobal = statement<number, GlobalRow>(
  "findGlobal",
  (sql, id) => sql`SELECT ${columns(sql)} FROM global_resources g WHERE id = ${id}`,
);

export const updateGlobal = statement<GlobalResource, GlobalRow>(
  "updateGlobal",
  (sql, { desiredSpec, selector, ...row }) => sql`
    UPDATE global_resources g
    SET api_version = ${row.apiVersion}, desired_spec = ${writeJson(desiredSpec)}::text::jsonb,
        revision = ${row.revision}, conflict_policy = ${row.conflictPolicy}, drift_policy = ${row.driftPolicy},
        immutable_policy = ${row.immutablePolicy}, propagation = ${row.propagation}, paused = ${row.paused},
        selector = ${selectorText(selector)}::text::jsonb
    WHERE id = ${row.id}
    RETURNING ${columns(sql)}`,
  { deadlineMs: 60_000 },
);

/** Its copies are deleted, and it goes after the last of them. */
export const markGlobalDeleted = statement<number, GlobalRow>(
  "markGlobalDeleted",
  (sql, id) => sql`
    UPDATE global_resources g SET deleted_at = now() WHERE id = ${id} RETURNING ${columns(sql)}`,
  { deadlineMs: 60_000 },
);

/** It and its copies; their objects stay in their clusters. */
export const forgetGlobal = statement<number, GlobalRow>(
  "forgetGlobal",
  (sql, id) => sql`DELETE FROM global_resources g WHERE id = ${id} RETURNING ${columns(sql)}`,
  { deadlineMs: 60_000 },
);

/** What the history holds of a revision, its newest generation; or of one generation. */
export const findGlobalRevision = statement<
  { readonly id: number; readonly revision: number | null; readonly generation: number | null },
  { revision: number; api_version: string; desired_spec: string }
>(
  "findGlobalRevision",
  (sql, { id, revision, generation }) => sql`
    SELECT revision, coalesce(api_version, '') AS api_version, desired_spec::text AS desired_spec
    FROM global_resource_revisions
    WHERE global_id = ${id}
      AND (revision = ${revision}::integer OR generation = ${generation}::integer)
    ORDER BY generation DESC LIMIT 1`,
);

/** The history, newest first. */
export const listGlobalRevisions = statement<
  { readonly id: number; readonly before: number; readonly limit: number },
  RevisionRow
>(
  "listGlobalRevisions",
  (sql, { id, before, limit }) => sql`
    SELECT generation, revision, coalesce(api_version, '') AS api_version, desired_spec::text AS desired_spec,
           actor, change_set, shown(created_at) AS created_at
    FROM global_resource_revisions WHERE global_id = ${id} AND generation < ${before}
    ORDER BY generation DESC LIMIT ${limit}`,
);

export interface PlacementRow {
  readonly cluster_id: string;
  readonly resource_id: number | null;
  readonly synced_generation: number | null;
  readonly state: "placed" | "conflict" | "leaving";
  /** Of the copy. */
  readonly status: string | null;
}

/**
 * Where a global resource is, cluster by cluster, once each. A copy that leaves loses its placement to its successor; where
 * that has gone before it, the copy is still there. Null: every cluster is the caller's.
 */
export const listPlacements = statement<
  { readonly id: number; readonly clusters: readonly string[] | null },
  PlacementRow
>(
  "listPlacements",
  (sql, { id, clusters }) => sql`
    WITH placements AS (
      SELECT cluster_id, resource_id, synced_generation, state FROM global_resource_placements
      WHERE global_id = ${id}
      UNION ALL
      SELECT r.cluster_id, min(r.id), NULL, 'leaving' FROM resources r
      WHERE r.global_id = ${id} AND r.deleted_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM global_placements p WHERE (p.global_id, p.cluster_id) = (r.global_id, r.cluster_id))
      GROUP BY r.cluster_id
    )
    SELECT p.cluster_id, p.resource_id, p.synced_generation, p.state, s.status
    FROM placements p LEFT JOIN resource_statuses s ON s.resource_id = p.resource_id
    ${clusters === null ? sql`` : sql`WHERE p.cluster_id = ANY (${clusters}::text[])`}
    ORDER BY p.cluster_id COLLATE "C"`,
);

/** The copies of a global resource as they are, in every cluster. */
export const listCopies = statement<number, ResourceRow>(
  "listCopies",
  (sql, id) => sql`
    SELECT ${copyColumns(sql)} FROM resources r WHERE r.global_id = ${id} ORDER BY r.cluster_id COLLATE "C", r.id`,
);

/** The copies in one cluster, of whichever global resource. */
export const listCopiesIn = statement<string, ResourceRow>(
  "listCopiesIn",
  (sql, clusterId) => sql`
    SELECT ${copyColumns(sql)} FROM resources r
    WHERE r.cluster_id = ${clusterId} AND r.global_id IS NOT NULL ORDER BY r.global_id, r.id`,
);

/** The global resources whose key another has in a cluster. */
export const listConflictsIn = statement<string, { readonly kind: string; readonly name: string }>(
  "listConflictsIn",
  (sql, clusterId) => sql`
    SELECT g.kind, g.name FROM global_placements p JOIN global_resources g ON g.id = p.global_id
    WHERE p.cluster_id = ${clusterId} AND p.state = 'conflict' ORDER BY g.id`,
);

export interface GlobalFilter {
  readonly namespace: string | null;
  readonly kind: string | null;
  readonly name: string | null;
  readonly clusters: readonly string[] | null;
}

export interface ListedGlobalRow extends GlobalRow {
  readonly total_clusters: number;
  readonly synced_clusters: number;
  readonly stuck_clusters: number;
}

/** A page with how far each of them got, in one statement. */
export const listGlobals = statement<
  GlobalFilter & { readonly after: number; readonly limit: number },
  ListedGlobalRow
>(
  "listGlobals",
  (sql, { after, limit, clusters, ...filter }) => sql`
    SELECT ${columns(sql)}, c.total_clusters, c.synced_clusters, c.stuck_clusters
    FROM global_resources g
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE p.state <> 'leaving')::integer AS total_clusters,
             count(*) FILTER (WHERE p.state = 'placed' AND s.status = 'synced')::integer AS synced_clusters,
             count(*) FILTER (WHERE p.state = 'conflict' OR s.status = 'error')::integer AS stuck_clusters
      FROM global_placements p LEFT JOIN resource_statuses s ON s.resource_id = p.resource_id
      WHERE p.global_id = g.id ${clusters === null ? sql`` : sql`AND p.cluster_id = ANY (${clusters}::text[])`}
    ) c
    WHERE g.id > ${after} AND ${passes(sql, filter)}
    ORDER BY g.id LIMIT ${limit}`,
);

export const countGlobals = statement<Omit<GlobalFilter, "clusters">, { total: number }>(
  "countGlobals",
  (sql, filter) =>
    sql`SELECT count(*)::integer AS total FROM global_resources g WHERE ${passes(sql, filter)}`,
);

function passes(sql: Sql, filter: Omit<GlobalFilter, "clusters">): ReturnType<Sql> {
  const { namespace, kind, name } = filter;
  return sql`true
    ${namespace === null ? sql`` : sql`AND g.namespace = ${namespace}`}
    ${kind === null ? sql`` : sql`AND g.kind = ${kind}`}
    ${name === null ? sql`` : sql`AND g.name = ${name}`}`;
}
