// The phase of a resource within a statement, for those that look for one among many. The rule is `status/aggregate.ts`;
// a test holds the two against each other.

import type { Sql } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { StatusRules } from "../status/aggregate.ts";
import type { Phase } from "../status/status.ts";
import type { Fragment } from "./events.ts";
import { isStale, tables } from "./tables.ts";

export interface PhaseAsked {
  readonly kind: KindName;
  readonly phase: Phase;
  readonly rules: StatusRules;
  readonly nowMs: number;
}

/**
 * Whether `r` would be shown in a phase: from its cache where that is true, else by what its reports add up to. Only what
 * is stale is added up. `Error` is reserved, and read as Failed.
 */
export function isInPhase(sql: Sql, { kind, phase, rules, nowMs }: PhaseAsked): Fragment {
  return sql`
    ${phase}::text = CASE
      WHEN r.deletion_timestamp IS NOT NULL THEN 'Deleting'
      WHEN ${isStale(sql, nowMs)} THEN ${calculated(sql, kind, { rules, nowMs })}
      WHEN r.status ->> 'phase' = 'Error' THEN 'Failed'
      ELSE r.status ->> 'phase'
    END`;
}

/** Of one that is not being deleted. Times in whole milliseconds, as the rule has them. */
function calculated(
  sql: Sql,
  kind: KindName,
  { rules, nowMs }: Pick<PhaseAsked, "rules" | "nowMs">,
): Fragment {
  const { reports, key, platform } = tables[kind];
  const { graceMs, recentMs, fatalFails } = rules;
  const changedMs = sql`floor(extract(epoch FROM r.generation_changed_at) * 1000)`;
  return sql`(
    SELECT CASE
      WHEN f.total = 0 THEN 'Pending'
      WHEN NOT EXISTS (SELECT FROM ${sql(reports)} s WHERE s.${sql(key)} = r.id)
           AND ${nowMs}::float8 < ${changedMs} + ${graceMs}::float8 THEN 'Pending'
      WHEN f.fatal > 0 AND ${fatalFails}::boolean THEN 'Failed'
      WHEN f.ready = f.total AND f.errors = 0 THEN 'Ready'
      WHEN f.ready > 0 OR f.errors > 0 THEN 'Progressing'
      WHEN ${nowMs}::float8 < coalesce(f.earliest_ms, ${changedMs}) + ${graceMs}::float8 THEN 'Progressing'
      WHEN ${nowMs}::float8 < f.latest_ms + ${recentMs}::float8 THEN 'Progressing'
      ELSE 'Failed'
    END
    FROM (
      SELECT count(*) AS total,
             count(*) FILTER (WHERE e.is_current AND is_available(e.conditions)) AS ready,
             count(*) FILTER (WHERE e.is_current AND jsonb_typeof(e.last_error) = 'object') AS errors,
             count(*) FILTER (WHERE e.is_current AND e.last_error ->> 'errorType' = 'Fatal') AS fatal,
             min(e.updated_ms) FILTER (WHERE e.is_current) AS earliest_ms,
             max(e.updated_ms) FILTER (WHERE e.is_current) AS latest_ms
      FROM (
        SELECT s.observed_generation = r.generation AS is_current, s.conditions, s.last_error,
               floor(extract(epoch FROM s.updated_at) * 1000) AS updated_ms
        FROM (SELECT * FROM ${sql(reports)} s WHERE s.${sql(key)} = r.id) s
        FULL JOIN (
          SELECT k.name FROM controllers k
          WHERE k.retired_at IS NULL AND ${kind} = ANY (k.kinds)
            AND (k.platforms = '{}' OR ${platform(sql)} = ANY (k.platforms))
        ) k ON k.name = s.controller_name
        WHERE NOT EXISTS (SELECT FROM controllers x WHERE x.name = s.controller_name AND x.retired_at IS NOT NULL)
          AND NOT coalesce(s.observed_generation = r.generation AND is_not_applicable(s.conditions), false)
      ) e
    ) f
  )`;
}
