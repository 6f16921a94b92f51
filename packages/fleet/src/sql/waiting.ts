// Rows that wait for a kind or a namespace of their cluster.

import { statement } from "@keelson/database";

/** The clusters of which some row waits. */
export const findWaitingClusters = statement<undefined, { cluster_id: string }>(
  "findWaitingClusters",
  (sql) => sql`
    SELECT DISTINCT cluster_id FROM resource_attempts WHERE error_class IN ('no-kind', 'no-namespace')`,
);

/** What rows of a cluster wait for. */
export const findWaiting = statement<string, { error_class: "no-kind" | "no-namespace" }>(
  "findWaiting",
  (sql, clusterId) => sql`
    SELECT DISTINCT error_class FROM resource_attempts
    WHERE cluster_id = ${clusterId} AND error_class IN ('no-kind', 'no-namespace')`,
);

/**
 * One array per column: the groups and kinds that the cluster serves now, the namespaces that are there; and since when
 * that was told, null if it was not yet.
 */
export interface Arrived {
  readonly clusterId: string;
  readonly groups: readonly string[];
  readonly kinds: readonly string[];
  readonly kindsTold: readonly (string | null)[];
  readonly namespaces: readonly string[];
  readonly namespacesTold: readonly (string | null)[];
}

/**
 * What was missing is there: whoever waited for it need not wait any longer. Of what was told before only whoever had
 * tried before that, and was not known to wait yet. Gives how many, and the time of the database.
 */
export const askForWaiting = statement<Arrived, { asked: number; at: string }>(
  "askForWaiting",
  (sql, { clusterId, groups, kinds, kindsTold, namespaces, namespacesTold }) => sql`
    WITH waiting AS (
      SELECT t.resource_id FROM resource_attempts t JOIN resources r ON r.id = t.resource_id
      WHERE t.cluster_id = ${clusterId} AND t.error_class IN ('no-kind', 'no-namespace') AND NOT r.paused
        AND CASE t.error_class
              WHEN 'no-namespace' THEN EXISTS (
                SELECT FROM unnest(${namespaces}::text[], ${namespacesTold}::timestamptz[]) n (name, told)
                WHERE n.name = r.namespace AND (n.told IS NULL OR t.last_attempt_at <= n.told))
              ELSE EXISTS (
                SELECT FROM unnest(${groups}::text[], ${kinds}::text[], ${kindsTold}::timestamptz[]) k (api_group, kind, told)
                WHERE (k.api_group, k.kind) = (r.api_group, r.kind) AND (k.told IS NULL OR t.last_attempt_at <= k.told))
            END
      ORDER BY t.resource_id FOR NO KEY UPDATE OF t
    ), asked AS (
      UPDATE resource_attempts t
      SET due_at = clock_timestamp(), requests = requests + 1, attempts = 0
      FROM waiting WHERE t.resource_id = waiting.resource_id
      RETURNING 1
    )
    SELECT count(*)::integer AS asked, clock_timestamp()::text AS at FROM asked`,
);
