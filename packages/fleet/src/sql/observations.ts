// The table `resource_current_states`: what the clusters say.

import type { JsonObject } from "@keelson/base";
import { statement, type Sql } from "@keelson/database";
import type { Drifted } from "../worker/drift.ts";
import { areFew } from "./given.ts";
import { storableJson, storableText } from "./storable.ts";

/** A row of a cluster, by what its object is called. */
export interface WatchedRow {
  readonly id: number;
  readonly api_version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The first transaction that may still be writing: all before it are over. */
export const readHorizon = statement<undefined, { readonly first: string }>(
  "readHorizon",
  (sql) => sql`SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS first`,
);

/**
 * A transaction later than all that write by now. A snapshot's xmax is none: it follows the last that is over, and who
 * began after that one may have begun long ago.
 */
export const readLatest = statement<undefined, { readonly latest: string }>(
  "readLatest",
  (sql) => sql`SELECT pg_current_xact_id()::text AS latest`,
);

/** The rows of a cluster after an id, and those that are asked for by name. */
export const readWatched = statement<
  { readonly clusterId: string; readonly after: number; readonly ids: readonly number[] },
  WatchedRow
>(
  "readWatched",
  (sql, { clusterId, after, ids }) => sql`
    SELECT id, coalesce(api_version, '') AS api_version, kind, namespace, name FROM resources
    WHERE cluster_id = ${clusterId} AND (id > ${after} OR id = ANY (${ids}::integer[])) ORDER BY id`,
);

/**
 * The kinds of which a cluster has rows, or of which something was deleted lately, with each of their versions; the one
 * of the newest row first. A pass over all rows of the cluster.
 */
export const kindsInUse = statement<
  string,
  { readonly api_version: string; readonly kind: string }
>(
  "kindsInUse",
  (sql, clusterId) => sql`
    SELECT coalesce(api_version, '') AS api_version, kind
    FROM (SELECT api_version, kind, id FROM resources WHERE cluster_id = ${clusterId}
          UNION ALL
          SELECT api_version, kind, 0 FROM resource_tombstones
          WHERE cluster_id = ${clusterId} AND api_version IS NOT NULL) used
    GROUP BY api_version, kind ORDER BY max(id) DESC`,
);

/**
 * What was applied for rows, and whether they are still there. An apply is awaited while work is due or claimed; a claim
 * counts for a while after its end, as below.
 */
export const readApplied = statement<
  readonly number[],
  {
    id: number;
    generation: number | null;
    uid: string | null;
    k8s_resource_version: string | null;
    owned: string | null;
    /** How long ago it was recorded. */
    recorded_ms_ago: number | null;
    is_deleting: boolean;
    is_awaited: boolean;
  }
>(
  "readApplied",
  (sql, ids) => sql`
    SELECT r.id, a.generation, a.uid, a.k8s_resource_version, a.owned::text AS owned,
           (extract(epoch FROM clock_timestamp() - a.applied_at) * 1000)::float8 AS recorded_ms_ago,
           r.deleted_at IS NOT NULL AS is_deleting,
           t.due_at IS NOT NULL OR coalesce(t.lease_until > clock_timestamp() - interval '30 s', false) AS is_awaited
    FROM resources r
    LEFT JOIN resource_applied_states a ON a.resource_id = r.id
    LEFT JOIN resource_attempts t ON t.resource_id = r.id
    WHERE r.id = ANY (${ids}::integer[])`,
);

export interface ObservedState {
  readonly id: number;
  readonly fence: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly spec: JsonObject;
  readonly managedFields: readonly JsonObject[];
  readonly generation: number | null;
  readonly revision: number | null;
  readonly health: string;
  readonly healthMessage: string | null;
  readonly drift: readonly Drifted[];
  readonly repair: Repair;
  /** What we had applied, as far as was known when it was compared; empty if nothing. */
  readonly appliedUid: string;
  readonly appliedVersion: string;
}

/** How a drift is to be repaired. */
export interface Repair {
  readonly waitMs: number;
  /** Why there is a wait: who keeps undoing it. */
  readonly contested: string | null;
}

/**
 * Asks for work in the statement that found the need, so that no crash comes between the two: a repair, or the end of a
 * deletion. What failed before keeps its wait.
 */
const asked = (sql: Sql, { waitMs }: Repair) => sql`
  UPDATE resource_attempts t
  SET due_at = CASE WHEN failed_generation IS NOT NULL AND due_at IS NOT NULL THEN due_at
                    ELSE least(due_at, clock_timestamp() + ${waitMs} * interval '1 ms') END,
      repair_after = CASE WHEN ${waitMs > 0} THEN clock_timestamp() + ${waitMs} * interval '1 ms'
                          ELSE repair_after END,
      requests = requests + 1
  FROM found WHERE t.resource_id = found.id AND found.heals`;

/**
 * Records an object, if it is news: of one uid only a later version, or the same one compared with another apply; of
 * another uid only under a fence that is not older. Nothing if what we applied is another by now. `heals`: it has drifted,
 * and work was asked for. Where nothing was written all is null but `is_settled`: not if what we applied is another, or
 * may be soon. A claim counts for a while after its end: whoever holds it may still record.
 */
export const recordObserved = statement<
  ObservedState,
  {
    heals: boolean | null;
    was_drifted: boolean | null;
    is_drifted: boolean | null;
    is_settled: boolean;
    /** How long ago it was applied, if this is the first that is seen of it. */
    since_applied_seconds: number | null;
  }
>(
  "recordObserved",
  (sql, state) => sql`
    WITH resource AS (
      SELECT * FROM resources WHERE id = ${state.id}
    ), compared AS (
      SELECT (coalesce(a.uid, ''), coalesce(a.k8s_resource_version, ''))
               = (${state.appliedUid}::text, ${state.appliedVersion}::text) AS is_true,
             t.lease_until > clock_timestamp() - interval '30 s' AS is_claimed
      FROM resource_attempts t LEFT JOIN resource_applied_states a ON a.resource_id = t.resource_id
      WHERE t.resource_id = ${state.id}
    ), former AS (
      SELECT c.* FROM resource_current_states c WHERE c.resource_id = ${state.id} FOR NO KEY UPDATE
    ), observed AS (
      INSERT INTO resource_current_states AS c
        (resource_id, spec, generation, revision, k8s_resource_version, uid, observed_at, health, health_message,
         drifted, drift, contested, fence, managed_fields)
      SELECT r.id, ${storableJson(state.spec)}::text::jsonb, ${state.generation}::integer, ${state.revision}::integer,
             ${storableText(state.resourceVersion)}::text, ${storableText(state.uid)}::text, clock_timestamp(),
             ${state.health}::text, ${storableText(state.healthMessage)}::text, ${state.drift.length > 0}::boolean,
             ${state.drift.length > 0 ? storableJson(state.drift) : null}::text::jsonb,
             ${storableText(state.repair.contested)}::text, ${state.fence}::bigint,
             ${storableJson(state.managedFields)}::text::jsonb
      FROM resource r LEFT JOIN former f ON true -- Read first: a row that this statement has changed is not seen any more.
      WHERE (SELECT is_true FROM compared)
      ON CONFLICT (resource_id) DO UPDATE
        SET spec = excluded.spec, generation = coalesce(excluded.generation, c.generation),
            revision = coalesce(excluded.revision, c.revision),
            k8s_resource_version = excluded.k8s_resource_version, uid = excluded.uid,
            observed_at = excluded.observed_at, health = excluded.health, health_message = excluded.health_message,
            drifted = excluded.drifted, drift = excluded.drift, contested = excluded.contested,
            fence = excluded.fence, deleted_at = NULL, managed_fields = excluded.managed_fields
        WHERE c.fence <= excluded.fence
          AND (c.uid IS DISTINCT FROM excluded.uid OR c.deleted_at IS NOT NULL
               OR is_later(excluded.k8s_resource_version, c.k8s_resource_version)
               OR (excluded.k8s_resource_version = c.k8s_resource_version
                   AND (excluded.drifted, excluded.drift) IS DISTINCT FROM (c.drifted, c.drift)))
      RETURNING c.resource_id, c.drifted, c.health, c.generation, c.contested
    ), found AS (
      SELECT r.id, o.drifted AND r.drift_policy = 'heal' AND NOT r.paused AND r.deleted_at IS NULL AS heals
      FROM observed o CROSS JOIN resource r
    ), asked AS (${asked(sql, state.repair)}
    ), told AS (
      INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, data)
      SELECT CASE WHEN o.drifted AND NOT coalesce(f.drifted, false) THEN 'resource.drifted'
                  WHEN NOT o.drifted AND (f.drifted OR f.deleted_at IS NOT NULL) THEN 'resource.healed'
                  ELSE 'resource.observed' END,
             r.id, r.cluster_id, 'watcher',
             told(r, status_of(r.deleted_at IS NOT NULL, t.failed_generation, r.generation, a.generation, o.drifted,
                               o.generation),
                  health_of(g.health, true, false, o.health))
               || CASE WHEN o.contested IS NULL THEN '{}' ELSE jsonb_build_object('message', o.contested) END
      FROM observed o
      CROSS JOIN resource r
      LEFT JOIN former f ON true
      LEFT JOIN resource_applied_states a ON a.resource_id = r.id
      LEFT JOIN resource_attempts t ON t.resource_id = r.id
      LEFT JOIN targets g ON g.cluster_id = r.cluster_id
      WHERE f.id IS NULL OR o.drifted <> f.drifted OR o.health IS DISTINCT FROM f.health
        OR o.generation IS DISTINCT FROM f.generation OR f.deleted_at IS NOT NULL
    )
    SELECT found.heals, f.drifted AS was_drifted, o.drifted AS is_drifted,
           compared.is_true AND compared.is_claimed IS NOT TRUE AS is_settled,
           (SELECT extract(epoch FROM clock_timestamp() - a.applied_at)::float8 FROM resource_applied_states a
            WHERE a.resource_id = ${state.id} AND a.generation = o.generation
              AND f.generation IS DISTINCT FROM o.generation) AS since_applied_seconds
    FROM compared LEFT JOIN (found CROSS JOIN observed o) ON true LEFT JOIN former f ON true`,
);

/** An object that is as we want it. */
export type UndriftedState = Omit<ObservedState, "fence" | "drift" | "repair">;

function sent(state: UndriftedState): JsonObject {
  return {
    id: state.id,
    spec: state.spec,
    generation: state.generation,
    revision: state.revision,
    version: state.resourceVersion,
    uid: state.uid,
    health: state.health,
    health_message: state.healthMessage,
    managed_fields: [...state.managedFields],
    applied_uid: state.appliedUid,
    applied_version: state.appliedVersion,
  };
}

/**
 * Records many objects that have not drifted, each by the same rules. It waits for no row that somebody else is writing,
 * nor writes of one that is gone: of such there is no answer.
 */
export const recordUndrifted = statement<
  { readonly fence: string; readonly states: readonly UndriftedState[] },
  {
    readonly id: number;
    readonly is_settled: boolean;
    readonly since_applied_seconds: number | null;
  }
>(
  "recordUndrifted",
  (sql, { fence, states }) => sql`
    WITH given AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${storableJson(states.map(sent))}::text::jsonb) AS given (
        id integer, spec jsonb, generation integer, revision integer, version text, uid text, health text,
        health_message text, managed_fields jsonb, applied_uid text, applied_version text)
      WHERE ${areFew(sql)}
    ), former AS MATERIALIZED (
      SELECT c.resource_id, c.generation, c.drifted, c.health, c.deleted_at
      FROM given JOIN resource_current_states c ON c.resource_id = given.id
      FOR NO KEY UPDATE OF c SKIP LOCKED
    ), free AS MATERIALIZED (
      SELECT given.*,
             (coalesce(a.uid, ''), coalesce(a.k8s_resource_version, ''))
               = (given.applied_uid, given.applied_version) AS is_true,
             t.lease_until > clock_timestamp() - interval '30 s' AS is_claimed
      FROM given
      JOIN resource_attempts t ON t.resource_id = given.id
      LEFT JOIN resource_applied_states a ON a.resource_id = given.id
      LEFT JOIN former f ON f.resource_id = given.id
      LEFT JOIN resource_current_states c ON c.resource_id = given.id
      WHERE f.resource_id IS NOT NULL OR c.resource_id IS NULL
    ), observed AS (
      INSERT INTO resource_current_states AS c
        (resource_id, spec, generation, revision, k8s_resource_version, uid, observed_at, health, health_message,
         drifted, fence, managed_fields)
      SELECT id, spec, generation, revision, version, uid, clock_timestamp(), health, health_message, false,
             ${fence}::bigint, managed_fields
      FROM free WHERE is_true
      ON CONFLICT (resource_id) DO UPDATE
        SET spec = excluded.spec, generation = coalesce(excluded.generation, c.generation),
            revision = coalesce(excluded.revision, c.revision),
            k8s_resource_version = excluded.k8s_resource_version, uid = excluded.uid,
            observed_at = excluded.observed_at, health = excluded.health, health_message = excluded.health_message,
            drifted = false, drift = NULL, contested = NULL,
            fence = excluded.fence, deleted_at = NULL, managed_fields = excluded.managed_fields
        WHERE c.fence <= excluded.fence
          AND (c.uid IS DISTINCT FROM excluded.uid OR c.deleted_at IS NOT NULL
               OR is_later(excluded.k8s_resource_version, c.k8s_resource_version)
               OR (excluded.k8s_resource_version = c.k8s_resource_version AND c.drifted))
      RETURNING c.resource_id, c.health, c.generation
    ), told AS (
      INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, data)
      SELECT CASE WHEN f.drifted OR f.deleted_at IS NOT NULL THEN 'resource.healed' ELSE 'resource.observed' END,
             r.id, r.cluster_id, 'watcher',
             told(r, status_of(r.deleted_at IS NOT NULL, t.failed_generation, r.generation, a.generation, false,
                               o.generation),
                  health_of(g.health, true, false, o.health))
      FROM observed o
      JOIN resources r ON r.id = o.resource_id
      LEFT JOIN former f ON f.resource_id = r.id
      LEFT JOIN resource_applied_states a ON a.resource_id = r.id
      LEFT JOIN resource_attempts t ON t.resource_id = r.id
      LEFT JOIN targets g ON g.cluster_id = r.cluster_id
      WHERE f.resource_id IS NULL OR f.drifted OR o.health IS DISTINCT FROM f.health
        OR o.generation IS DISTINCT FROM f.generation OR f.deleted_at IS NOT NULL
      ORDER BY r.id
    )
    SELECT free.id, free.is_true AND free.is_claimed IS NOT TRUE AS is_settled,
           extract(epoch FROM clock_timestamp() - a.applied_at)::float8 AS since_applied_seconds
    FROM free
    LEFT JOIN observed o ON o.resource_id = free.id
    LEFT JOIN former f ON f.resource_id = free.id
    LEFT JOIN resource_applied_states a
      ON a.resource_id = o.resource_id AND a.generation = o.generation AND f.generation IS DISTINCT FROM o.generation`,
);

/**
 * Records that there was no object as of a version, if we had made one before it: by the versions; or because what we had
 * applied is what was `known` already when it was looked for, which is so in a cluster that took another's place, and counts
 * its versions anew. An apply that was recorded just now may have made it since: that is asked here, and not of what was read
 * earlier. `heals`: it is to be made again, which what we deleted ourselves always is, or its deletion is done, and work was
 * asked for; null where nothing was written. Not settled while an apply is under way: what that made may be what is gone,
 * which can be told only from its record.
 */
export const recordAbsent = statement<
  {
    readonly id: number;
    readonly fence: string;
    readonly version: string;
    readonly known: { readonly uid: string; readonly version: string } | undefined;
    readonly repair: Repair;
  },
  { readonly heals: boolean | null; readonly is_settled: boolean }
>(
  "recordAbsent",
  (sql, { id, fence, version, known, repair }) => sql`
    WITH absent AS (
      INSERT INTO resource_current_states AS c (resource_id, deleted_at, observed_at, fence, uid, contested)
      SELECT r.id, now(), clock_timestamp(), ${fence}::bigint, a.uid, ${storableText(repair.contested)}::text
      FROM resources r JOIN resource_applied_states a ON a.resource_id = r.id
      WHERE r.id = ${id} AND a.generation IS NOT NULL
        AND (is_later(${version}, a.k8s_resource_version)
             OR (coalesce(a.uid, ''), coalesce(a.k8s_resource_version, ''))
                = (${known?.uid ?? null}::text, ${known?.version ?? null}::text))
      ON CONFLICT (resource_id) DO UPDATE
        SET deleted_at = excluded.deleted_at, observed_at = excluded.observed_at, fence = excluded.fence,
            spec = NULL, generation = NULL, revision = NULL, health = NULL, health_message = NULL,
            drifted = false, drift = NULL, contested = excluded.contested, managed_fields = NULL,
            uid = excluded.uid
        -- That an earlier one was gone is known of another uid: what we made since may be gone too.
        WHERE c.fence <= excluded.fence AND (c.deleted_at IS NULL OR c.uid IS DISTINCT FROM excluded.uid)
      RETURNING c.resource_id
    ), found AS (
      SELECT r.id,
             (r.drift_policy = 'heal' OR r.deleted_at IS NOT NULL OR a.deleted_at IS NOT NULL) AND NOT r.paused AS heals
      FROM absent
      JOIN resources r ON r.id = absent.resource_id
      JOIN resource_applied_states a ON a.resource_id = r.id
    ), asked AS (${asked(sql, repair)}
    ), told AS (
      INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, data)
      SELECT 'resource.drifted', r.id, r.cluster_id, 'watcher',
             told(r, CASE WHEN s.status IN ('synced', 'pending-applied') THEN 'drifted' ELSE s.status END,
                  health_of(g.health, true, true, NULL))
      FROM absent
      JOIN resources r ON r.id = absent.resource_id
      JOIN resource_statuses s ON s.resource_id = r.id
      LEFT JOIN targets g ON g.cluster_id = r.cluster_id
      WHERE r.deleted_at IS NULL
    )
    SELECT (SELECT heals FROM found), t.lease_until > clock_timestamp() - interval '30 s' IS NOT TRUE AS is_settled
    FROM resource_attempts t WHERE t.resource_id = ${id}`,
);
