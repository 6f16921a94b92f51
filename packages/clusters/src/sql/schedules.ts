// When a resource is announced again: claimed, judged, advanced and told of in one statement.

import { statement } from "@keelson/database";
import type { ScheduleReason } from "../events/event.ts";
import type { KindName } from "../kinds.ts";
import { awaited } from "./deletions.ts";
import { insertEvents } from "./events.ts";
import { isStale, tables } from "./tables.ts";

export interface Cadence {
  /** Between announcements of what needs attention, and of what is stable. */
  readonly unhealthyMs: number;
  readonly healthyMs: number;
  /** How long something is new. */
  readonly newMs: number;
  /** After so many unanswered announcements the interval doubles with each further one; 0 is never. */
  readonly decayAfter: number;
}

export interface Claim {
  readonly kind: KindName;
  readonly nowMs: number;
  readonly cadence: Cadence;
  readonly limit: number;
  /** Who announces, for the event. */
  readonly scheduledBy: string;
}

export interface ClaimedRow {
  readonly id: string;
  /** Null: claimed and not announced, because nobody is left to be told. */
  readonly reason: ScheduleReason | null;
  readonly late_ms: number;
}

/**
 * Claims what is due, what needs attention first, then the longest due, and announces it. Each due time is announced
 * once, however many do this at once: rows of others are skipped, never waited for. The resource is locked too, so
 * that its events keep the order of its changes.
 */
export const announceDue = statement<Claim, ClaimedRow>(
  "announceDue",
  (sql, { kind, nowMs, cadence, limit, scheduledBy }) => {
    const { schedule, key, from, platform, clusterId, nodepoolId } = tables[kind];
    const now = sql`to_timestamp(${nowMs / 1_000}::float8)`;
    const due = (attention: boolean) => sql`
      SELECT s.${sql(key)} AS id, s.next_reconcile_at, s.last_reconciled_at, s.unanswered, r.generation, r.created_by,
             r.created_at, r.status, ${isStale(sql, nowMs)} AS is_stale, r.deletion_timestamp, ${platform(sql)} AS platform,
             ${clusterId(sql)} AS cluster_id, ${nodepoolId(sql)} AS nodepool_id,
             ${kind === "nodepool" ? sql`c.deletion_timestamp IS NOT NULL` : sql`false`} AS is_parent_deleting
      FROM ${from(sql)} JOIN ${sql(schedule)} s ON s.${sql(key)} = r.id
      WHERE s.enabled AND ${attention ? sql`s.attention` : sql`NOT s.attention`} AND s.next_reconcile_at <= ${now}
      ORDER BY s.next_reconcile_at`;
    return sql`
      WITH urgent AS MATERIALIZED (
        ${due(true)} LIMIT ${limit} FOR NO KEY UPDATE OF r, s SKIP LOCKED
      ), calm AS MATERIALIZED (
        ${due(false)} LIMIT ${limit} - (SELECT count(*) FROM urgent) FOR NO KEY UPDATE OF r, s SKIP LOCKED
      ), facts AS MATERIALIZED (
        SELECT d.*, e.expected, e.behind, e.awaited,
               d.status ->> 'phase' = 'Ready' AND d.status -> 'observedGeneration' = to_jsonb(d.generation)
                 AS is_ready,
               d.created_at > ${now} - ${cadence.newMs} * interval '1 ms' AS is_new,
               d.deletion_timestamp IS NOT NULL AS is_deleting,
               CASE WHEN d.deletion_timestamp IS NOT NULL THEN ${awaited(sql, kind, sql`d.id`)} END AS awaited_for
        FROM (SELECT * FROM urgent UNION ALL SELECT * FROM calm) d
        CROSS JOIN LATERAL ${sql(`expectations_of_${kind}`)}(d.id, d.generation, d.platform) e
      ), judged AS MATERIALIZED (
        SELECT f.*,
               -- A status that changed since the pass may be a failure: look again soon.
               f.is_deleting OR f.is_new OR f.is_stale IS TRUE OR f.is_ready IS NOT TRUE OR f.behind > 0 AS attention,
               -- One more unanswered announcement, unless nobody has to answer.
               CASE WHEN f.expected = 0 OR f.awaited > 0 THEN f.unanswered + 1 ELSE 0 END AS unanswered_now,
               CASE WHEN f.is_deleting THEN CASE WHEN f.awaited_for IS NOT NULL THEN 'deletion_pending' END
                    WHEN f.is_parent_deleting THEN NULL
                    WHEN f.last_reconciled_at IS NULL THEN 'never_reconciled'
                    WHEN f.behind > 0 THEN 'generation_mismatch'
                    WHEN f.is_ready IS NOT TRUE THEN 'unhealthy_reconciliation'
                    WHEN f.is_new THEN 'periodic_reconciliation'
                    ELSE 'healthy_reconciliation' END AS reason
        FROM facts f
      ), advanced AS (
        UPDATE ${sql(schedule)} s
        SET next_reconcile_at = ${now} + interval '1 ms' * CASE
              WHEN NOT j.attention THEN ${cadence.healthyMs}::float8
              WHEN ${cadence.decayAfter} = 0 OR j.unanswered_now <= ${cadence.decayAfter}
                THEN ${cadence.unhealthyMs}::float8
              ELSE least(${cadence.unhealthyMs}::float8 * 2 ^ least(j.unanswered_now - ${cadence.decayAfter}, 30),
                         greatest(${cadence.healthyMs}::float8, ${cadence.unhealthyMs}::float8)) END,
            attention = j.attention,
            unanswered = CASE WHEN j.reason IS NULL THEN s.unanswered ELSE j.unanswered_now END,
            last_reconciled_at = CASE WHEN j.reason IS NULL THEN s.last_reconciled_at ELSE ${now} END,
            updated_at = clock_timestamp()
        FROM judged j WHERE s.${sql(key)} = j.id
      ), told AS (
        ${insertEvents(
          sql,
          sql`
            SELECT gen_random_uuid() AS event_id, ${`${kind}.reconcile`}::text AS type, j.cluster_id, j.nodepool_id,
                   j.generation, j.platform, j.reason, j.created_by::text, NULL::jsonb AS caller,
                   jsonb_build_object(
                     'scheduled_by', ${scheduledBy}::text, 'cluster_generation', j.generation,
                     'last_reconciled_at', to_char(j.last_reconciled_at AT TIME ZONE 'UTC',
                                                   'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                     || coalesce(j.awaited_for, '{}') AS metadata
            FROM judged j WHERE j.reason IS NOT NULL`,
        )}
      )
      SELECT id, reason, (extract(epoch FROM ${now} - next_reconcile_at) * 1000)::float8 AS late_ms FROM judged`;
  },
);

/** What the clock of the database says. */
export const readDatabaseTime = statement<undefined, { now_ms: number }>(
  "readDatabaseTime",
  (sql) => sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`,
);
