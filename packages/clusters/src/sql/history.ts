// What happened to a resource, from the audit: it outlives the outbox.

import type { JsonObject } from "@keelson/base";
import { statement } from "@keelson/database";

export interface HistoryRow {
  readonly position: string;
  readonly data: JsonObject;
}

/** The newest first, below a position. */
export const readHistory = statement<
  { readonly id: string; readonly before: number | undefined; readonly limit: number },
  HistoryRow
>(
  "readHistory",
  (sql, { id, before, limit }) => sql`
    SELECT position, data FROM audit
    WHERE resource_id = ${id} AND position IS NOT NULL
      ${before === undefined ? sql`` : sql`AND position < ${before}`}
    ORDER BY position DESC LIMIT ${limit}`,
);
