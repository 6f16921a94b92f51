// What the gauges show, each family in one question.

import { statement } from "@keelson/database";

export const countStatuses = statement<
  undefined,
  { readonly cluster_id: string; readonly status: string; readonly count: number }
>(
  "countStatuses",
  (sql) => sql`
    SELECT r.cluster_id, s.status, count(*)::integer AS count
    FROM resources r JOIN resource_statuses s ON s.resource_id = r.id
    GROUP BY 1, 2`,
  { deadlineMs: 10_000 },
);

export const countTargets = statement<
  undefined,
  { readonly cluster_id: string; readonly is_up: boolean }
>(
  "countTargets",
  (sql) => sql`SELECT cluster_id, health IN ('Healthy', 'Degraded') AS is_up FROM targets`,
);

/** What nobody can deliver, since its target is unknown or paused, does not wait for us. */
export const measureQueue = statement<
  undefined,
  { readonly depth: number; readonly oldest_seconds: number }
>(
  "measureQueue",
  (sql) => sql`
    SELECT count(*)::integer AS depth,
           coalesce(extract(epoch FROM clock_timestamp() - min(a.due_at)), 0)::float8 AS oldest_seconds
    FROM resource_attempts a JOIN targets t ON t.cluster_id = a.cluster_id
    WHERE a.due_at <= clock_timestamp() AND NOT t.paused`,
);
