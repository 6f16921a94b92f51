// Wakes of dependents after a report: at once, but no more than so many in any minute for one resource.

import type { Identity } from "@keelson/base";
import { statement } from "@keelson/database";
import type { WakeReason } from "../events/event.ts";
import type { KindName } from "../kinds.ts";
import { callerText, insertEvents, type Fragment } from "./events.ts";
import { tables } from "./tables.ts";

export interface Wake {
  readonly kind: KindName;
  readonly id: string;
  readonly eventId: string;
  readonly reason: WakeReason;
  /** Whose report it was: it need not hear of it. */
  readonly controllerName: string;
  readonly caller: Identity;
  readonly perMinuteMax: number;
}

/**
 * Wakes whoever depends on a report, in the transaction of that report, whose resource is locked. Where there were as
 * many in the last minute already it is deferred: the latest one waits, and takes the earlier one's place. Whoever
 * runs it wakes the numbering after the commit.
 */
export const writeWake = statement<Wake, { is_deferred: boolean }>("writeWake", (sql, wake) => {
  const { kind, id, eventId, reason, controllerName, caller, perMinuteMax } = wake;
  const { schedule, key, from, platform, clusterId, nodepoolId } = tables[kind];
  return sql`
    WITH before AS MATERIALIZED (
      SELECT s.${sql(key)} AS id, clock_timestamp() AS now,
             ARRAY(SELECT at FROM unnest(s.woken_at) at
                   WHERE at > clock_timestamp() - interval '1 min' ORDER BY at) AS recent,
             s.wake_due_at IS NOT NULL AND s.wake_controller IS DISTINCT FROM ${controllerName} AS is_shared
      FROM ${sql(schedule)} s WHERE s.${sql(key)} = ${id} FOR NO KEY UPDATE
    ), noted AS (
      UPDATE ${sql(schedule)} s
      SET woken_at = CASE WHEN cardinality(b.recent) < ${perMinuteMax} THEN b.recent || b.now ELSE b.recent END,
          wake_due_at = CASE WHEN cardinality(b.recent) < ${perMinuteMax} THEN NULL
                             ELSE b.recent[cardinality(b.recent) - ${perMinuteMax} + 1] + interval '1 min' END,
          wake_reason = ${reason}::text,
          wake_controller = CASE WHEN b.is_shared THEN NULL ELSE ${controllerName}::text END,
          wake_caller = ${callerText(caller)}::text::jsonb
      FROM before b WHERE s.${sql(key)} = b.id
      RETURNING s.wake_due_at, s.wake_controller
    ), told AS (
      ${insertEvents(
        sql,
        sql`
          SELECT ${eventId}::uuid AS event_id, ${`${kind}.reconcile`}::text AS type, ${clusterId(sql)} AS cluster_id,
                 ${nodepoolId(sql)} AS nodepool_id, r.generation, ${platform(sql)} AS platform,
                 ${reason}::text AS reason, r.created_by::text, ${callerText(caller)}::text::jsonb AS caller,
                 jsonb_strip_nulls(jsonb_build_object('controller_name', n.wake_controller)) AS metadata
          FROM noted n CROSS JOIN ${from(sql)}
          WHERE r.id = ${id} AND n.wake_due_at IS NULL`,
      )}
    )
    SELECT wake_due_at IS NOT NULL AS is_deferred FROM noted`;
});

/** The kinds of which a deferred wake's time has come. */
export const kindsWithDueWakes = statement<undefined, { kind: KindName }>(
  "kindsWithDueWakes",
  (sql) => {
    const isDue = ({ schedule }: (typeof tables)[KindName]): Fragment =>
      sql`EXISTS (SELECT FROM ${sql(schedule)} WHERE wake_due_at <= (SELECT clock_timestamp()))`;
    return sql`
      SELECT 'cluster' AS kind WHERE ${isDue(tables.cluster)}
      UNION ALL SELECT 'nodepool' WHERE ${isDue(tables.nodepool)}`;
  },
);

/** Sends deferred wakes whose time has come, some at a time; nobody is waited for. */
export const sendDeferredWakes = statement<
  { readonly kind: KindName; readonly limit: number },
  { id: string }
>("sendDeferredWakes", (sql, { kind, limit }) => {
  const { schedule, key, from, platform, clusterId, nodepoolId } = tables[kind];
  return sql`
    WITH due AS (
      SELECT r.id, r.generation, r.created_by, ${platform(sql)} AS platform, ${clusterId(sql)} AS cluster_id,
             ${nodepoolId(sql)} AS nodepool_id, s.wake_reason, s.wake_controller, s.wake_caller
      FROM ${from(sql)} JOIN ${sql(schedule)} s ON s.${sql(key)} = r.id
      WHERE s.wake_due_at <= (SELECT clock_timestamp())
      ORDER BY s.wake_due_at LIMIT ${limit} FOR NO KEY UPDATE OF r, s SKIP LOCKED
    ), noted AS (
      UPDATE ${sql(schedule)} s
      SET wake_due_at = NULL,
          woken_at = ARRAY(SELECT at FROM unnest(s.woken_at) at
                           WHERE at > clock_timestamp() - interval '1 min' ORDER BY at) || clock_timestamp()
      FROM due WHERE s.${sql(key)} = due.id
    ), told AS (
      ${insertEvents(
        sql,
        sql`
          SELECT gen_random_uuid() AS event_id, ${`${kind}.reconcile`}::text AS type, due.cluster_id, due.nodepool_id,
                 due.generation, due.platform, due.wake_reason AS reason, due.created_by::text,
                 due.wake_caller AS caller,
                 jsonb_strip_nulls(jsonb_build_object('controller_name', due.wake_controller)) AS metadata
          FROM due`,
      )}
    )
    SELECT id FROM due`;
});
