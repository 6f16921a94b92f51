// The table `audit`: events get there by themselves (0003-events.sql), denials from here.

import { writeJson, type JsonObject } from "@keelson/base";
import { statement } from "@keelson/database";
import type { KindName } from "../kinds.ts";

export interface Denial {
  readonly at: Date;
  readonly actor: string;
  readonly kind: KindName | null;
  readonly resourceId: string | null;
  readonly data: JsonObject;
}

export const insertDenials = statement<readonly Denial[]>(
  "insertDenials",
  (sql, denials) => sql`
    INSERT INTO audit (at, actor, action, kind, resource_id, data)
    SELECT at, actor, 'denied', kind, resource_id, data
    FROM unnest(
      ${denials.map(({ at }) => at.toISOString())}::text[]::timestamptz[],
      ${denials.map(({ actor }) => actor)}::text[], ${denials.map(({ kind }) => kind)}::text[],
      ${denials.map(({ resourceId }) => resourceId)}::uuid[],
      ${denials.map(({ data }) => writeJson(data))}::text[]::jsonb[]
    ) AS d (at, actor, kind, resource_id, data)`,
);
