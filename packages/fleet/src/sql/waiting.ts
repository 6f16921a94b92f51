// Rows that wait for a kind or a namespace of their cluster.

import { statement } from "@keelson/database";

/** What rows of a cluster wait for. */
export const findWaiting = statement<string, { error_class: "no-kind" | "no-namespace" }>(
  "findWaiting",
  (sql, clusterId) => sql`
    SELECT DISTINCT error_class FROM resource_attempts
    WHERE cluster_id = ${clusterId} AND error_class IN ('no-kind', 'no-namespace')`,
);

/** One array per column: the groups and kinds that the cluster serves now, and the namespaces that are there. */
export interface Arrived {
  readonly clusterId: string;
  readonly groups: readonly string[];
  readonly kinds: readonly string[];
  readonly namespaces: readonly string[];
}

/** What was missing is there: whoever waited for it need not wait any longer. Gives how many. */
export const askForWaiting = statement<Arrived, { asked: number }>(
  "askForWaiting",
  (sql, { clusterId, groups, kinds, namespaces }) => sql`
    WITH waiting AS (
      SELECT t.resource_id FROM resource_attempts t JOIN resources r ON r.id = t.resource_id
      WHERE t.cluster_id = ${clusterId} AND t.error_class IN ('no-kind', 'no-namespace') AND NOT r.paused
        AND CASE t.error_class
              WHEN 'no-namespace' THEN r.namespace = ANY (${namespaces}::text[])
              ELSE (r.api_group, r.kind) IN (SELECT * FROM unnest(${groups}::text[], ${kinds}::text[]))
            END
      ORDER BY t.resource_id FOR NO KEY UPDATE OF t
    ), asked AS (
      UPDATE resource_attempts t
      SET due_at = clock_timestamp(), requests = requests + 1, attempts = 0
      FROM waiting WHERE t.resource_id = waiting.resource_id
      RETURNING 1
    )
    SELECT count(*)::integer AS asked FROM asked`,
);
