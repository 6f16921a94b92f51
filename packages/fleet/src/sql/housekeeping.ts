// What is looked through slice by slice, so that no statement grows with the tables.

import { statement } from "@keelson/database";
import { neverBegun } from "./resources.ts";

/** Rows after an id, so many at most. */
export interface Slice {
  readonly after: number;
  readonly limit: number;
}

/**
 * Compares the generations of a slice: a row that is not as it should be and for which nothing is due is made due. `last`
 * is null behind the last row.
 */
export const auditSlice = statement<Slice, { last: number | null; found: number }>(
  "auditSlice",
  (sql, { after, limit }) => sql`
    WITH slice AS MATERIALIZED (
      SELECT id, cluster_id, generation, deleted_at, paused, drift_policy FROM resources
      WHERE id > ${after} ORDER BY id LIMIT ${limit} FOR KEY SHARE
    ), entered AS (
      -- What was applied was begun: whoever deletes it has to wait for its object.
      INSERT INTO resource_attempts (resource_id, cluster_id, due_at, requests, last_attempt_at)
      SELECT s.id, s.cluster_id, CASE WHEN NOT s.paused THEN clock_timestamp() END, 1,
             CASE WHEN a.resource_id IS NOT NULL THEN coalesce(a.applied_at, clock_timestamp()) END
      FROM slice s LEFT JOIN resource_applied_states a ON a.resource_id = s.id
      WHERE NOT EXISTS (SELECT FROM resource_attempts t WHERE t.resource_id = s.id)
      ON CONFLICT DO NOTHING
      RETURNING 1
    ), behind AS (
      SELECT t.resource_id FROM slice s
      JOIN resource_attempts t ON t.resource_id = s.id
      LEFT JOIN resource_applied_states a ON a.resource_id = s.id
      LEFT JOIN resource_current_states c ON c.resource_id = s.id
      WHERE NOT s.paused AND t.due_at IS NULL
        AND (s.deleted_at IS NOT NULL OR s.generation IS DISTINCT FROM a.generation
             OR (s.drift_policy = 'heal'
                 AND (c.drifted OR (c.deleted_at IS NOT NULL AND c.uid IS NOT DISTINCT FROM a.uid))))
      ORDER BY t.resource_id FOR NO KEY UPDATE OF t
    ), marked AS (
      UPDATE resource_attempts t SET due_at = clock_timestamp(), requests = requests + 1
      FROM behind WHERE t.resource_id = behind.resource_id AND t.due_at IS NULL
      RETURNING 1
    )
    SELECT (SELECT max(id) FROM slice) AS last,
           ((SELECT count(*) FROM entered) + (SELECT count(*) FROM marked))::integer AS found`,
);

/**
 * Rows that are being deleted and that no worker ever began, as SQL leaves them: one that is paused, or whose target is
 * unknown, paused or away, no worker would ever take. Gives how many went.
 */
export const purgeUntouchedSome = statement<number, { purged: number }>(
  "purgeUntouchedSome",
  (sql, limit) => sql`
    WITH untouched AS (
      SELECT t.resource_id FROM resource_attempts t JOIN resources r ON r.id = t.resource_id
      WHERE r.deleted_at IS NOT NULL AND ${neverBegun(sql)}
      ORDER BY t.resource_id LIMIT ${limit} FOR UPDATE OF t SKIP LOCKED
    ), told AS MATERIALIZED (
      SELECT set_config('fleet.reason', 'NeverApplied', true), set_config('fleet.actor', 'worker', true)
    ), purged AS (
      DELETE FROM resources r USING told, untouched u
      WHERE r.id = u.resource_id AND r.deleted_at IS NOT NULL
      RETURNING 1
    )
    SELECT count(*)::integer AS purged FROM purged`,
);

/**
 * Tells, once for each generation and step, of rows of a slice for which nothing has moved for so long. What fails has
 * been told already, and so has a target that cannot be reached.
 */
export const tellStalled = statement<
  Slice & { readonly afterMs: number },
  { last: number | null; told: number }
>(
  "tellStalled",
  (sql, { after, limit, afterMs }) => sql`
    WITH slice AS MATERIALIZED (
      SELECT r.id, r.generation, r.updated_at AT TIME ZONE 'UTC' AS changed_at, r.deleted_at IS NOT NULL AS is_deleting,
             r.paused, r.cluster_id, clock_timestamp() - ${afterMs} * interval '1 ms' AS long_ago
      FROM resources r WHERE r.id > ${after} ORDER BY r.id LIMIT ${limit}
    ), steps AS (
      SELECT s.id, s.generation,
             CASE
               WHEN t.due_at < long_ago AND (t.lease_until IS NULL OR t.lease_until < long_ago) THEN 'claim'
               WHEN s.is_deleting AND t.error_message IS NOT NULL AND changed_at < long_ago THEN 'delete'
               WHEN t.error_message IS NOT NULL AND changed_at < long_ago THEN 'wait'
               WHEN a.generation = s.generation AND a.applied_at < long_ago
                 AND c.generation IS DISTINCT FROM a.generation AND c.deleted_at IS NULL THEN 'observe'
             END AS step,
             t.error_message AS message
      FROM slice s
      JOIN resource_attempts t ON t.resource_id = s.id
      JOIN targets g ON g.cluster_id = s.cluster_id
      LEFT JOIN resource_applied_states a ON a.resource_id = s.id
      LEFT JOIN resource_current_states c ON c.resource_id = s.id
      WHERE NOT s.paused AND NOT g.paused AND g.health <> 'Unreachable' AND t.error_class IS NULL
    ), marked AS (
      UPDATE resource_attempts t SET stalled = p.generation || ' ' || p.step
      FROM steps p
      WHERE t.resource_id = p.id AND p.step IS NOT NULL
        AND t.stalled IS DISTINCT FROM p.generation || ' ' || p.step
      RETURNING t.resource_id, p.step, p.message
    ), told AS (
      INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, data)
      SELECT 'resource.stalled', r.id, r.cluster_id, 'worker',
             told(r, s.status, s.health) || jsonb_build_object('step', m.step, 'message', m.message)
      FROM marked m
      JOIN resources r ON r.id = m.resource_id
      JOIN resource_statuses s ON s.resource_id = r.id
      ORDER BY r.id
      RETURNING 1
    )
    SELECT (SELECT max(id) FROM slice) AS last, (SELECT count(*) FROM told)::integer AS told`,
);

/**
 * Forgets generations beyond the newest `keep` of each resource, so many rows at most. The one that was applied stays:
 * it is what the cluster has.
 */
export const pruneHistory = statement<
  { readonly keep: number; readonly limit: number },
  { pruned: number }
>(
  "pruneHistory",
  (sql, { keep, limit }) => sql`
    WITH old AS (
      SELECT h.resource_id, h.generation FROM resources r
      JOIN resource_revisions h ON h.resource_id = r.id AND h.generation <= r.generation - ${keep}
      LEFT JOIN resource_applied_states a ON a.resource_id = r.id
      WHERE r.generation > ${keep} AND h.generation IS DISTINCT FROM a.generation
      LIMIT ${limit}
    ), removed AS (
      DELETE FROM resource_revisions h USING old
      WHERE h.resource_id = old.resource_id AND h.generation = old.generation
      RETURNING 1
    )
    SELECT count(*)::integer AS pruned FROM removed`,
);
