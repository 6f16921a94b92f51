// The work queue: claims with a fence, and what becomes of them.

import { writeJson, type Json, type JsonObject } from "@keelson/base";
import { statement, type Sql } from "@keelson/database";
import type { ResourceFailure } from "../worker/failure.ts";
import { areFew } from "./given.ts";
import { columns, type ResourceRow } from "./resources.ts";
import { storableJson, storableText } from "./storable.ts";

export interface ClaimRow {
  readonly resource_id: number;
  readonly fence: string;
  readonly requests: string;
  readonly attempts: number;
  readonly kind: string;
  /** How long it was due. */
  readonly waited_seconds: number;
}

/** Claims what is due in one cluster that is not paused, the longest due first. A claim is a lease with a fence higher than any before it. */
export const claimWork = statement<
  {
    readonly clusterId: string;
    readonly owner: string;
    readonly leaseMs: number;
    readonly limit: number;
  },
  ClaimRow
>(
  "claimWork",
  (sql, { clusterId, owner, leaseMs, limit }) => sql`
    WITH due AS (
      SELECT resource_id, due_at FROM resource_attempts
      WHERE cluster_id = ${clusterId} AND due_at <= (SELECT clock_timestamp()) -- Once: only then does the index end there.
        AND (lease_until IS NULL OR lease_until <= clock_timestamp())
        AND NOT EXISTS (SELECT FROM targets WHERE cluster_id = ${clusterId} AND paused)
      ORDER BY due_at LIMIT ${limit}
      FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE resource_attempts t
    SET fence = t.fence + 1, lease_owner = ${owner}, last_attempt_at = clock_timestamp(),
        lease_until = clock_timestamp() + ${leaseMs} * interval '1 ms'
    FROM due JOIN resources r ON r.id = due.resource_id
    WHERE t.resource_id = due.resource_id
    RETURNING t.resource_id, t.fence, t.requests, t.attempts, r.kind,
              extract(epoch FROM clock_timestamp() - due.due_at)::float8 AS waited_seconds`,
);

/** A claim that somebody holds: of which row, and by which fence. */
export interface Held {
  readonly id: number;
  readonly fence: string;
}

/** The resources as they are now, of those claims that still hold. */
export const readClaimed = statement<
  readonly Held[],
  ResourceRow & {
    readonly applied_uid: string | null;
    /** Another row of the same key that is still being deleted. */
    readonly predecessor_id: number | null;
    readonly is_target_paused: boolean;
  }
>(
  "readClaimed",
  (sql, claims) => sql`
    SELECT ${columns(sql)}, a.uid AS applied_uid, coalesce(g.paused, false) AS is_target_paused,
           (SELECT min(p.id) FROM resources p
            WHERE (p.cluster_id, p.namespace, p.api_group, p.kind, p.name)
                = (r.cluster_id, r.namespace, r.api_group, r.kind, r.name)
              AND p.deleted_at IS NOT NULL AND r.deleted_at IS NULL) AS predecessor_id
    FROM jsonb_to_recordset(${writeJson(claims.map(({ id, fence }) => ({ id, fence })))}::text::jsonb)
           AS given (id integer, fence bigint)
    JOIN resource_attempts t ON t.resource_id = given.id AND t.fence = given.fence
    JOIN resources r ON r.id = given.id
    LEFT JOIN resource_applied_states a ON a.resource_id = r.id
    LEFT JOIN targets g ON g.cluster_id = r.cluster_id
    WHERE ${areFew(sql)}`,
);

/** Whether it was recorded, and whether something is left to do, now or later. */
export interface Recorded {
  readonly recorded: boolean;
  readonly is_left: boolean;
}

export interface AppliedState {
  readonly desiredSpec: JsonObject;
  readonly generation: number;
  readonly revision: number;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Whether the object is being deleted. */
  readonly isEnding: boolean;
  readonly owned: Json;
}

/** A successful apply, by the claim under which it was made. */
export interface Applied extends Held, AppliedState {
  readonly requests: string;
}

/**
 * Records successful applies and gives the claims back: nothing is due any more, unless more was asked for meanwhile. Not
 * where the claim has passed to another, nor where a newer generation is recorded already.
 *
 * It waits for no row that somebody else is writing: two that wait for each other's would be in a circle, and one that is
 * held for long would keep all. Of such there is no answer, as of claims that have passed to another: they go alone.
 */
export const recordApplied = statement<readonly Applied[], Recorded & { readonly id: number }>(
  "recordApplied",
  (sql, all) => sql`
    WITH ${recording(sql, all, sql`SKIP LOCKED`)}
    SELECT settled.resource_id AS id, settled.is_left, recorded.resource_id IS NOT NULL AS recorded
    FROM settled LEFT JOIN recorded ON recorded.resource_id = settled.resource_id`,
);

/** The same for one, which waits for its row. */
export const recordAppliedAlone = statement<Applied, Recorded>(
  "recordAppliedAlone",
  (sql, applied) => sql`
    WITH ${recording(sql, [applied], sql``)}
    SELECT EXISTS (SELECT FROM recorded) AS recorded, EXISTS (SELECT FROM settled WHERE is_left) AS is_left`,
);

function sent({ desiredSpec: spec, resourceVersion: version, ...applied }: Applied): JsonObject {
  const { id, fence, requests, generation, revision, uid, isEnding, owned } = applied;
  const is_ending = isEnding;
  return { id, fence, requests, spec, generation, revision, uid, version, is_ending, owned };
}

function recording(sql: Sql, all: readonly Applied[], skips: ReturnType<Sql>): ReturnType<Sql> {
  return sql`
    given AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${storableJson(all.map(sent))}::text::jsonb) AS given (
        id integer, fence bigint, requests bigint, spec jsonb, generation integer, revision integer, uid text,
        version text, is_ending boolean, owned jsonb)
      WHERE ${areFew(sql)}
    ), held AS (
      SELECT t.resource_id FROM resource_attempts t JOIN given ON given.id = t.resource_id AND given.fence = t.fence
      FOR NO KEY UPDATE OF t ${skips}
    ), recorded AS (
      INSERT INTO resource_applied_states AS a
        (resource_id, spec, generation, revision, status, uid, k8s_resource_version, applied_at, owned, deleted_at)
      SELECT given.id, given.spec, given.generation, given.revision, 'success', given.uid, given.version,
             clock_timestamp(), given.owned,
             CASE WHEN given.is_ending
                  THEN (SELECT b.deleted_at FROM resource_applied_states b
                        WHERE b.resource_id = given.id AND b.uid = given.uid) END
      FROM held JOIN given ON given.id = held.resource_id
      ON CONFLICT (resource_id) DO UPDATE
        SET spec = excluded.spec, generation = excluded.generation, revision = excluded.revision,
            status = 'success', error_message = NULL, uid = excluded.uid,
            k8s_resource_version = excluded.k8s_resource_version, applied_at = excluded.applied_at,
            owned = excluded.owned,
            -- What we had deleted goes all the same, and is to be made again then.
            deleted_at = CASE WHEN excluded.deleted_at IS NOT NULL THEN a.deleted_at END
        WHERE coalesce(a.generation, 0) <= excluded.generation
      RETURNING a.resource_id
    ), settled AS (
      UPDATE resource_attempts t
      SET lease_owner = NULL, lease_until = NULL, attempts = 0, failed_generation = NULL, error_class = NULL,
          http_status = NULL, error_message = NULL, stalled = NULL,
          -- Asked for meanwhile: at once, but for a repair that somebody keeps undoing.
          due_at = CASE WHEN t.requests <> given.requests THEN greatest(t.due_at, t.repair_after) END,
          repair_after = CASE WHEN t.requests <> given.requests THEN t.repair_after END
      FROM held JOIN given ON given.id = held.resource_id
      WHERE t.resource_id = held.resource_id
      RETURNING t.resource_id, t.due_at IS NOT NULL AS is_left
    ), told AS (
      INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, data)
      SELECT 'resource.applied', r.id, r.cluster_id, 'worker',
             told(r, status_of(r.deleted_at IS NOT NULL, NULL, r.generation, given.generation,
                               c.drifted OR (c.deleted_at IS NOT NULL AND c.uid = given.uid), c.generation),
                  health_of(g.health, c.observed_at IS NOT NULL, c.deleted_at IS NOT NULL, c.health))
               || jsonb_build_object('generation', given.generation, 'revision', given.revision)
      FROM recorded
      JOIN given ON given.id = recorded.resource_id
      JOIN resources r ON r.id = recorded.resource_id
      LEFT JOIN resource_current_states c ON c.resource_id = r.id
      LEFT JOIN targets g ON g.cluster_id = r.cluster_id
    )`;
}

/**
 * Records a failed attempt and gives the claim back: it is due again after a wait, or at once if more was asked for
 * meanwhile. What was applied before stays recorded. An event tells of the first of a row of failures, and of each that
 * is of another class: the others say nothing new.
 */
export const recordFailed = statement<
  Held & {
    readonly requests: string;
    readonly generation: number;
    readonly failure: ResourceFailure;
    readonly retryMs: number;
  },
  Recorded & {
    /** Whether it had not failed before, or in another way. */
    readonly is_news: boolean;
  }
>(
  "recordFailed",
  (sql, { id, fence, requests, generation, failure, retryMs }) => sql`
    WITH held AS (
      SELECT resource_id, attempts, error_class FROM resource_attempts
      WHERE resource_id = ${id} AND fence = ${fence} FOR NO KEY UPDATE
    ), settled AS (
      UPDATE resource_attempts t
      SET lease_owner = NULL, lease_until = NULL, attempts = t.attempts + 1, failed_generation = ${generation},
          error_class = ${failure.errorClass}, http_status = ${failure.httpStatus},
          error_message = ${storableText(failure.message)},
          due_at = CASE WHEN requests = ${requests} OR repair_after IS NOT NULL
                        THEN clock_timestamp() + ${retryMs} * interval '1 ms' ELSE due_at END,
          repair_after = NULL
      FROM held WHERE t.resource_id = held.resource_id
      RETURNING t.resource_id, t.due_at IS NOT NULL AS is_left,
                held.attempts = 0 OR held.error_class IS DISTINCT FROM t.error_class AS is_news
    ), recorded AS (
      INSERT INTO resource_applied_states (resource_id, status, error_message)
      SELECT resource_id, 'error', ${storableText(failure.message)}::text FROM settled
      ON CONFLICT (resource_id) DO UPDATE SET status = 'error', error_message = excluded.error_message
    ), told AS (
      INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, data)
      SELECT 'resource.failed', r.id, r.cluster_id, 'worker',
             told(r, CASE WHEN r.deleted_at IS NULL AND r.generation = ${generation}::integer THEN 'error'
                          ELSE s.status END, s.health)
               || jsonb_build_object('class', ${failure.errorClass}::text, 'message', ${storableText(failure.message)}::text)
      FROM settled
      JOIN resources r ON r.id = settled.resource_id
      JOIN resource_statuses s ON s.resource_id = r.id
      WHERE settled.is_news
    )
    SELECT EXISTS (SELECT FROM settled) AS recorded, EXISTS (SELECT FROM settled WHERE is_left) AS is_left,
           EXISTS (SELECT FROM settled WHERE is_news) AS is_news`,
);

/** Gives a claim back as it was: nothing was tried. It is due when its target is there again. */
export const releaseClaim = statement<Held>(
  "releaseClaim",
  (sql, { id, fence }) => sql`
    UPDATE resource_attempts SET lease_owner = NULL, lease_until = NULL
    WHERE resource_id = ${id} AND fence = ${fence}`,
);

/**
 * Gives back the claim of a row that is paused: nothing is due, unless more was asked for meanwhile. Who asks for work in
 * the very moment of a pause does not see it, and has made it due.
 */
export const releasePaused = statement<Held & { readonly requests: string }>(
  "releasePaused",
  (sql, { id, fence, requests }) => sql`
    UPDATE resource_attempts
    SET lease_owner = NULL, lease_until = NULL, due_at = CASE WHEN requests <> ${requests} THEN due_at END
    WHERE resource_id = ${id} AND fence = ${fence}`,
);

/**
 * The object is gone: so is its row, with everything that hangs on it. What is remembered is enough to know it should an
 * old request bring it back.
 */
export const purgeDeleted = statement<Held & { readonly reason: string }>(
  "purgeDeleted",
  (sql, { id, fence, reason }) => sql`
    WITH held AS (
      SELECT resource_id FROM resource_attempts
      WHERE resource_id = ${id} AND fence = ${fence} FOR UPDATE
    ), told AS MATERIALIZED (
      SELECT set_config('fleet.reason', ${reason}, true), set_config('fleet.actor', 'worker', true)
    ), buried AS (
      INSERT INTO resource_tombstones
        (resource_id, cluster_id, namespace, api_group, api_version, kind, name, uid)
      SELECT r.id, r.cluster_id, r.namespace, r.api_group, r.api_version, r.kind, r.name, coalesce(a.uid, c.uid)
      FROM held JOIN resources r ON r.id = held.resource_id
      LEFT JOIN resource_applied_states a ON a.resource_id = r.id
      LEFT JOIN resource_current_states c ON c.resource_id = r.id
      WHERE r.deleted_at IS NOT NULL
      ON CONFLICT (resource_id) DO NOTHING
    )
    DELETE FROM resources r USING held, told WHERE r.id = held.resource_id AND r.deleted_at IS NOT NULL`,
);

/** Gives a claim back, waiting: for another, or for the cluster to finish what was asked of it. */
export const settleWaiting = statement<
  Held & {
    readonly requests: string;
    readonly message: string;
    readonly retryMs: number;
    /** Whether the object's deletion was sent. */
    readonly isSentAway: boolean;
  }
>(
  "settleWaiting",
  (sql, { id, fence, requests, message, retryMs, isSentAway }) => sql`
    WITH settled AS (
      UPDATE resource_attempts
      SET lease_owner = NULL, lease_until = NULL, attempts = attempts + 1, failed_generation = NULL,
          error_class = NULL, http_status = NULL, error_message = ${storableText(message)},
          repair_after = NULL,
          due_at = CASE WHEN requests = ${requests} OR repair_after IS NOT NULL
                        THEN clock_timestamp() + ${retryMs} * interval '1 ms' ELSE due_at END
      WHERE resource_id = ${id} AND fence = ${fence}
      RETURNING resource_id
    )
    INSERT INTO resource_applied_states AS a (resource_id, deleted_at)
    SELECT resource_id, now() FROM settled WHERE ${isSentAway}::boolean
    ON CONFLICT (resource_id) DO UPDATE SET deleted_at = excluded.deleted_at WHERE a.deleted_at IS NULL`,
);
