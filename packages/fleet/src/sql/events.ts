// The tables `events_unnumbered` and `events`: what happened, in the order in which it was committed.

import { statement, type LogShape } from "@keelson/database";

/** What the log is called in the table `numbering`. */
export const eventLogName = "fleet.events";

/** Woken, in all processes, when events have got their ids. */
export const eventsNumberedChannel = "fleet_events";

/** The log as `Numbering` sees it. One notification a step, however many events: each takes a lock of the whole database. */
export const eventLogShape: LogShape = {
  log: eventLogName,
  source: "events_unnumbered",
  target: "events",
  position: "id",
  columns: ["at", "type", "resource_id", "cluster_id", "actor", "change_set", "data"],
  further: [
    `SELECT pg_notify('${eventsNumberedChannel}', '') FROM events WHERE numbered() LIMIT 1`,
  ],
};

export interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly resource_id: number | null;
  readonly cluster_id: string | null;
  /** What is told of it, as JSON text. */
  readonly body: string;
}

export const readEvents = statement<{ readonly after: number; readonly limit: number }, EventRow>(
  "readFleetEvents",
  (sql, { after, limit }) => sql`
    SELECT id, type, resource_id, cluster_id,
           (data || jsonb_build_object('at', shown(at), 'resource_id', resource_id, 'cluster_id', cluster_id,
                                       'actor', actor, 'change_set', change_set))::text AS body
    FROM events WHERE id > ${after} ORDER BY id LIMIT ${limit}`,
);

/**
 * Removes the oldest events that are past their time. Always a beginning of the log: whoever has read further than its
 * mark has lost nothing.
 */
export const pruneEvents = statement<
  { readonly retentionMs: number; readonly limit: number },
  { pruned: number }
>(
  "pruneFleetEvents",
  (sql, { retentionMs, limit }) => sql`
    WITH oldest AS MATERIALIZED (
      SELECT id, at < clock_timestamp() - ${retentionMs} * interval '1 ms' AS is_old
      FROM events ORDER BY id LIMIT ${limit}
    ), removed AS (
      DELETE FROM events e USING oldest o
      WHERE e.id = o.id AND o.id < coalesce((SELECT min(id) FROM oldest WHERE NOT is_old), o.id + 1)
      RETURNING e.id
    ), summed AS (
      SELECT count(*)::integer AS pruned, max(id) AS last FROM removed
    ), remembered AS (
      UPDATE keelson.numbering SET purged_position = greatest(purged_position, last) FROM summed
      WHERE log = ${eventLogName} AND pruned > 0
    )
    SELECT pruned FROM summed`,
);
