// What is kept for a while, and then removed, some at a time.

import { statement } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import { tables } from "./tables.ts";

// The time is asked for once, in a query of its own: only then does an index end there. It would be read to its end.

export const purgeAudit = statement<
  { readonly retentionMs: number; readonly limit: number },
  { purged: number }
>(
  "purgeAudit",
  (sql, { retentionMs, limit }) => sql`
    WITH removed AS (
      DELETE FROM audit WHERE id IN (
        SELECT id FROM audit
        WHERE at < (SELECT clock_timestamp() - ${retentionMs} * interval '1 ms')
        ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      ) RETURNING 1
    )
    SELECT count(*)::integer AS purged FROM removed`,
);

/** Resources that are gone for so long, unless an event of theirs is still to be published. */
export const purgeTombstones = statement<
  { readonly kind: KindName; readonly retentionMs: number; readonly limit: number },
  { purged: number }
>("purgeTombstones", (sql, { kind, retentionMs, limit }) => {
  const resources = sql(tables[kind].resources);
  return sql`
    WITH removed AS (
      DELETE FROM ${resources} WHERE id IN (
        SELECT r.id FROM ${resources} r
        WHERE r.deleted_at < (SELECT clock_timestamp() - ${retentionMs} * interval '1 ms')
          AND NOT EXISTS (SELECT FROM outbox o WHERE o.ordering_key = r.id::text AND o.published_at IS NULL)
          AND NOT EXISTS (SELECT FROM outbox_unnumbered u WHERE u.ordering_key = r.id::text)
          ${
            kind === "cluster"
              ? sql`AND NOT EXISTS (SELECT FROM nodepools n WHERE n.cluster_id = r.id)`
              : sql``
          }
        ORDER BY r.deleted_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      ) RETURNING 1
    )
    SELECT count(*)::integer AS purged FROM removed`;
});
