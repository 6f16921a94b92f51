// The table `resource_tombstones`: what was deleted lately, and should it come back is known.

import { statement } from "@keelson/database";

export interface TombstoneRow {
  readonly resource_id: number;
  readonly api_group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Of some rows, where nobody has the key by now and the target may be written to. */
export const findTombstones = statement<
  { readonly clusterId: string; readonly ids: readonly number[] },
  TombstoneRow
>(
  "findTombstones",
  (sql, { clusterId, ids }) => sql`
    SELECT t.resource_id, t.api_group, t.kind, t.namespace, t.name
    FROM resource_tombstones t JOIN targets g ON g.cluster_id = t.cluster_id
    WHERE t.cluster_id = ${clusterId} AND t.resource_id = ANY (${ids}::integer[]) AND NOT g.paused
      AND NOT EXISTS (SELECT FROM resources r
                      WHERE (r.cluster_id, r.namespace, r.api_group, r.kind, r.name)
                          = (t.cluster_id, t.namespace, t.api_group, t.kind, t.name))`,
);

/** Forgets those older than their time, so many at most. */
export const pruneTombstones = statement<
  { readonly retentionMs: number; readonly limit: number },
  { pruned: number }
>(
  "pruneTombstones",
  (sql, { retentionMs, limit }) => sql`
    WITH removed AS (
      DELETE FROM resource_tombstones WHERE resource_id IN (
        SELECT resource_id FROM resource_tombstones
        WHERE purged_at < (SELECT clock_timestamp() - ${retentionMs} * interval '1 ms')
        ORDER BY purged_at LIMIT ${limit})
      RETURNING 1
    )
    SELECT count(*)::integer AS pruned FROM removed`,
);
