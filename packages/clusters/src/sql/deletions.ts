// Deletions: asked for, waited for, done.

import { statement, type Sql } from "@keelson/database";
import type { Identity } from "@keelson/base";
import type { KindName } from "../kinds.ts";
import { callerText, insertEvents, type Fragment } from "./events.ts";
import { tables } from "./tables.ts";

/** The nodepools of a cluster that is locked, those that still live, in the order in which all lock them. */
export const lockNodepools = statement<string, { id: string; is_deleting: boolean }>(
  "lockNodepools",
  (sql, clusterId) => sql`
    SELECT id, deletion_timestamp IS NOT NULL AS is_deleting FROM nodepools
    WHERE cluster_id = ${clusterId} AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE`,
);

export interface Deletion {
  readonly kind: KindName;
  readonly ids: readonly string[];
  readonly eventIds: readonly string[];
  readonly reason: "deletion_requested" | "force_deletion";
  readonly caller: Identity;
}

/**
 * Asks for the deletion of resources that are locked and not deleting yet, and tells of it: also whom it waits for, who
 * may be there no longer by platform. The finalizers are recorded. What was paused is announced by schedule again.
 */
export const requestDeletion = statement<Deletion, { id: string }>(
  "requestDeletion",
  (sql, { kind, ids, eventIds, reason, caller }) => {
    const { resources, schedule, key, platform, clusterId, nodepoolId } = tables[kind];
    return sql`
      WITH given AS (
        SELECT * FROM unnest(${ids}::uuid[], ${eventIds}::uuid[]) WITH ORDINALITY AS g (id, event_id, place)
      ), r AS (
        UPDATE ${sql(resources)} SET deletion_timestamp = clock_timestamp()
        WHERE id IN (SELECT id FROM given) AND deletion_timestamp IS NULL
        RETURNING *
      ), resumed AS (
        -- Whoever is to let go hears of it until they have.
        UPDATE ${sql(schedule)} SET enabled = true
        WHERE ${sql(key)} IN (SELECT id FROM r) AND enabled IS NOT TRUE
      ), told AS (
        ${insertEvents(
          sql,
          sql`
            SELECT given.event_id, ${`${kind}.deleted`}::text AS type, ${clusterId(sql)} AS cluster_id,
                   ${nodepoolId(sql)} AS nodepool_id, r.generation, ${platform(sql)} AS platform,
                   ${reason}::text AS reason, r.created_by::text, ${callerText(caller)}::text::jsonb AS caller,
                   ${reason === "force_deletion" ? sql`NULL::jsonb` : awaited(sql, kind, sql`r.id`)} AS metadata
            FROM r JOIN given USING (id) ${parentOf(sql, kind)} ORDER BY given.place`,
        )}
      )
      SELECT id FROM r`;
  },
);

/** Whom the deletion waits for, beside those whose reports said so: whoever is registered with a finalizer. */
export const recordFinalizers = statement<{
  readonly kind: KindName;
  readonly ids: readonly string[];
}>("recordFinalizers", (sql, { kind, ids }) => {
  const { from, platform } = tables[kind];
  return sql`
    INSERT INTO finalizers (kind, resource_id, controller_name)
    SELECT ${kind}::text, r.id, k.name FROM ${from(sql)}
    JOIN controllers k
      ON k.finalizer AND k.retired_at IS NULL AND ${kind} = ANY (k.kinds)
     AND (k.platforms = '{}' OR ${platform(sql)} = ANY (k.platforms))
    WHERE r.id = ANY (${ids}::uuid[])
    ON CONFLICT (kind, resource_id, controller_name) DO UPDATE SET finalized_at = NULL`;
});

/** Nobody is waited for any more. */
export const dropFinalizers = statement<{
  readonly kind: KindName;
  readonly ids: readonly string[];
}>(
  "dropFinalizers",
  (sql, { kind, ids }) => sql`
    DELETE FROM finalizers
    WHERE kind = ${kind} AND resource_id = ANY (${ids}::uuid[]) AND finalized_at IS NULL`,
);

/** Those that are done with their deletion. */
export const findDone = statement<
  { readonly kind: KindName; readonly limit: number },
  { id: string }
>(
  "findDone",
  (sql, { kind, limit }) => sql`
    SELECT d.id FROM ${sql(tables[kind].resources)} d WHERE ${isDone(sql, kind)} ORDER BY d.id LIMIT ${limit}`,
);

/** Locks resources before they are judged; with `skipsLocked` those that nobody else has locked. */
export const lockAll = statement<
  { readonly kind: KindName; readonly ids: readonly string[]; readonly skipsLocked: boolean },
  { id: string }
>(
  "lockAll",
  (sql, { kind, ids, skipsLocked }) => sql`
    SELECT id FROM ${sql(tables[kind].resources)} WHERE id = ANY (${ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE ${skipsLocked ? sql`SKIP LOCKED` : sql``}`,
);

/** Ends the deletion of those of `ids` that are done with it. They are locked. */
export const finishDeletions = statement<
  {
    readonly kind: KindName;
    readonly ids: readonly string[];
    readonly caller: Identity | null;
  },
  { id: string; cluster_id: string }
>("finishDeletions", (sql, { kind, ids, caller }) => {
  const { resources, reports, schedule, key, platform, clusterId, nodepoolId } = tables[kind];
  return sql`
    WITH done AS (
      SELECT d.id FROM ${sql(resources)} d WHERE d.id = ANY (${ids}::uuid[]) AND ${isDone(sql, kind)}
    ), r AS (
      UPDATE ${sql(resources)} SET deleted_at = clock_timestamp(), status_dirty = false, status_expires_at = NULL
      WHERE id IN (SELECT id FROM done) RETURNING *
    ), silenced AS (
      DELETE FROM ${sql(reports)} WHERE ${sql(key)} IN (SELECT id FROM done)
    ), unscheduled AS (
      DELETE FROM ${sql(schedule)} WHERE ${sql(key)} IN (SELECT id FROM done)
    ), told AS (
      ${insertEvents(
        sql,
        sql`
          SELECT gen_random_uuid() AS event_id, ${`${kind}.finalized`}::text AS type, ${clusterId(sql)} AS cluster_id,
                 ${nodepoolId(sql)} AS nodepool_id, r.generation, ${platform(sql)} AS platform,
                 'finalized' AS reason, r.created_by::text, ${callerText(caller)}::text::jsonb AS caller,
                 NULL::jsonb AS metadata
          FROM r ${parentOf(sql, kind)}`,
      )}
    )
    SELECT r.id, ${clusterId(sql)} AS cluster_id FROM r`;
});

/** Whether the resource `d` is being deleted and has nothing to wait for: no finalizer is open, no nodepool is left. */
function isDone(sql: Sql, kind: KindName): Fragment {
  return sql`
    d.deletion_timestamp IS NOT NULL AND d.deleted_at IS NULL AND NOT ${isHeld(sql, kind, sql`d.id`)}
    ${
      kind === "cluster"
        ? sql`AND NOT EXISTS (SELECT FROM nodepools n WHERE n.cluster_id = d.id AND n.deleted_at IS NULL)`
        : sql``
    }`;
}

/** Whether a finalizer of a resource is open. */
export function isHeld(sql: Sql, kind: KindName, id: Fragment): Fragment {
  return sql`EXISTS (SELECT ${openFinalizers(sql, kind, id)})`;
}

/** What events say of whom a deletion waits for, `{"finalizers": [name, …]}`; null for nobody. */
export function awaited(sql: Sql, kind: KindName, id: Fragment): Fragment {
  return sql`
    (SELECT jsonb_build_object('finalizers', jsonb_agg(f.controller_name ORDER BY f.controller_name))
     ${openFinalizers(sql, kind, id)} HAVING count(*) > 0)`;
}

/**
 * That of a controller which has retired is not open: a deletion that was asked for while it retired may have recorded it
 * all the same.
 */
function openFinalizers(sql: Sql, kind: KindName, id: Fragment): Fragment {
  return sql`
    FROM finalizers f
    WHERE f.kind = ${kind} AND f.resource_id = ${id} AND f.finalized_at IS NULL
      AND NOT EXISTS (SELECT FROM controllers k WHERE k.name = f.controller_name AND k.retired_at IS NOT NULL)`;
}

/** Where `r` is what a write returned: a nodepool's platform may be its cluster's. */
function parentOf(sql: Sql, kind: KindName): Fragment {
  return kind === "nodepool" ? sql`JOIN clusters c ON c.id = r.cluster_id` : sql``;
}
