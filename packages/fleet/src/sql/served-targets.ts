// The table `targets`, as workers read and write it: who serves which, when something is due, and how they are.

import { statement } from "@keelson/database";
import { storableText } from "./storable.ts";

/** A target, how it is reached, and how long until something may be claimed of it. */
export interface ServedRow {
  readonly cluster_id: string;
  readonly in_process: boolean;
  readonly agent: boolean;
  readonly paused: boolean;
  /** Another once its credential is. */
  readonly version: string;
  /** Null: nothing is due, now or later. */
  readonly wait_ms: number | null;
  /** The newest of its resources. */
  readonly last_id: number | null;
}

/**
 * Every target with the time of its next work, in one question, from indexes alone. Rows under a lease
 * count from its end: of a worker that died nobody rings. Only the first few of a target are looked at: whoever works
 * on it goes on by itself.
 */
export const readServed = statement<{ readonly onlyCluster: string | null }, ServedRow>(
  "readServed",
  (sql, { onlyCluster }) => sql`
    SELECT t.cluster_id, t.in_process, t.agent, t.paused, coalesce(md5(t.credential), '') AS version,
           -- greatest() passes over NULL: without the CASE a target with nothing to do would seem to have work now.
           (SELECT CASE WHEN count(*) > 0 THEN
                     greatest(0, extract(epoch FROM min(greatest(due_at, coalesce(lease_until, due_at)))
                                                     - clock_timestamp()) * 1000)::float8 END
            FROM (SELECT due_at, lease_until FROM resource_attempts a
                  WHERE a.cluster_id = t.cluster_id AND a.due_at IS NOT NULL
                  ORDER BY due_at LIMIT 100) first) AS wait_ms,
           -- Not max(id): where one cluster has nearly all rows, PostgreSQL would look for those of another from the
           -- newest of all downwards, through every one of them. Only idx_resources_newest has this order.
           (SELECT r.id FROM resources r
            WHERE (r.cluster_id, r.id) >= (t.cluster_id, 0) AND (r.cluster_id, r.id) <= (t.cluster_id, 2147483647)
            ORDER BY r.cluster_id DESC, r.id DESC LIMIT 1) AS last_id
    FROM targets t
    ${onlyCluster === null ? sql`` : sql`WHERE t.cluster_id = ${onlyCluster}`}`,
);

/**
 * What was last seen of a target, by whoever watches it, or by anybody while nobody does: two that see it differently
 * would tell of it in turn. Only an answer is a contact.
 */
export const markTarget = statement<{
  readonly clusterId: string;
  readonly owner: string;
  readonly health: "Healthy" | "Degraded" | "Unreachable";
  readonly message: string | null;
}>(
  "markTarget",
  (sql, { clusterId, owner, health, message }) => sql`
    UPDATE targets
    SET health = ${health}, health_message = ${storableText(message)},
        last_contact_at = CASE WHEN ${health} = 'Unreachable' THEN last_contact_at ELSE clock_timestamp() END
    WHERE cluster_id = ${clusterId}
      AND (lease_owner IS NULL OR lease_owner = ${owner} OR lease_until <= clock_timestamp())`,
);

/** Of a target that nobody has been in contact with for long, nothing is known any more. */
export const markStale = statement<{ readonly staleMs: number }>(
  "markStale",
  (sql, { staleMs }) => sql`
    UPDATE targets SET health = 'Unknown', health_message = 'nobody has been in contact with it lately'
    WHERE health IN ('Healthy', 'Degraded')
      AND coalesce(last_contact_at, created_at) < clock_timestamp() - ${staleMs} * interval '1 ms'`,
);

/** The target is there again: whatever waited because something failed is tried now, as if for the first time. */
export const dueAgain = statement<string>(
  "dueAgain",
  (sql, clusterId) => sql`
    WITH waiting AS (
      SELECT resource_id FROM resource_attempts
      WHERE cluster_id = ${clusterId} AND due_at > clock_timestamp()
      ORDER BY resource_id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE resource_attempts a SET due_at = clock_timestamp(), requests = requests + 1, attempts = 0
    FROM waiting WHERE a.resource_id = waiting.resource_id`,
);

/** Takes, or keeps, the right to watch a target. Without a fence another has it, for so long at most. */
export const holdTarget = statement<
  { readonly clusterId: string; readonly owner: string; readonly leaseMs: number },
  { readonly fence: string | null; readonly left_ms: number }
>(
  "holdTarget",
  (sql, { clusterId, owner, leaseMs }) => sql`
    WITH held AS (
      UPDATE targets
      SET fence = CASE WHEN lease_owner = ${owner} AND lease_until > clock_timestamp() THEN fence ELSE fence + 1 END,
          lease_owner = ${owner}, lease_until = clock_timestamp() + ${leaseMs} * interval '1 ms'
      WHERE cluster_id = ${clusterId}
        AND (lease_owner IS NULL OR lease_owner = ${owner} OR lease_until <= clock_timestamp())
      RETURNING fence
    )
    SELECT (SELECT fence FROM held) AS fence,
           greatest(0, extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS left_ms
    FROM targets WHERE cluster_id = ${clusterId}`,
);

/** Gives it back, so that the next need not wait. */
export const leaveTarget = statement<{ readonly clusterId: string; readonly owner: string }>(
  "leaveTarget",
  (sql, { clusterId, owner }) => sql`
    UPDATE targets SET lease_owner = NULL, lease_until = NULL
    WHERE cluster_id = ${clusterId} AND lease_owner = ${owner}`,
);
