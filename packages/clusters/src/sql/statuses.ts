// What a status is made of, read in one snapshot, and the cache that it goes into.

import { writeJson, type Json } from "@keelson/base";
import { statement, type Sql, type Statement } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { CountedReport, StatusFacts } from "../status/aggregate.ts";
import { cachedStatus, type Status } from "../status/status.ts";
import { insertEvents, type Fragment } from "./events.ts";
import { isStale, tables } from "./tables.ts";

export interface FactsRow {
  readonly id: string;
  readonly generation: string;
  readonly status_revision: string;
  readonly changed_ms: number;
  readonly is_deleting: boolean;
  readonly status: unknown;
  readonly reports: readonly (Omit<CountedReport, "errorType"> & { errorType: string | null })[];
  readonly registered: readonly string[];
  readonly retired: readonly string[];
}

/** What a status is made of, and the revision as of which. */
export interface DatedFacts {
  readonly id: string;
  readonly revision: string;
  readonly previous: Status | undefined;
  readonly facts: StatusFacts;
}

export function toFacts(row: FactsRow): DatedFacts {
  return {
    id: row.id,
    revision: row.status_revision,
    previous: cachedStatus(row.status),
    facts: {
      generation: Number(row.generation),
      generationChangedAtMs: row.changed_ms,
      isDeleting: row.is_deleting,
      reports: row.reports.map(({ errorType, ...report }) => ({
        ...report,
        errorType: errorType ?? undefined,
      })),
      registered: row.registered,
      retired: row.retired,
    },
  };
}

/** The columns of a `FactsRow`, of `r` and what `factSources` joins to it. */
export const factColumns = (sql: Sql): Fragment => sql`
  r.id, r.generation, r.status_revision,
  floor(extract(epoch FROM r.generation_changed_at) * 1000)::float8 AS changed_ms,
  r.deletion_timestamp IS NOT NULL AS is_deleting, r.status, coalesce(said.reports, '[]') AS reports,
  coalesce(known.registered, '{}') AS registered, coalesce(known.retired, '{}') AS retired`;

/** What is read for the facts of those `r` that `wanted` says; the others' are empty. */
export function factSources(sql: Sql, kind: KindName, wanted: Fragment): Fragment {
  const { reports, key, platform } = tables[kind];
  return sql`
    LEFT JOIN LATERAL (
      SELECT jsonb_agg(jsonb_build_object(
        'controllerName', s.controller_name, 'observedGeneration', s.observed_generation,
        'conditions', s.conditions,
        'errorType', CASE WHEN jsonb_typeof(s.last_error) = 'object'
                          THEN coalesce(s.last_error ->> 'errorType', 'System') END,
        'updatedAtMs', floor(extract(epoch FROM s.updated_at) * 1000))) AS reports
      FROM ${sql(reports)} s WHERE s.${sql(key)} = r.id AND ${wanted}
    ) said ON true
    LEFT JOIN LATERAL (
      SELECT array_agg(k.name) FILTER (WHERE k.retired_at IS NULL) AS registered,
             array_agg(k.name) FILTER (WHERE k.retired_at IS NOT NULL) AS retired
      FROM controllers k
      WHERE ${wanted} AND (k.retired_at IS NOT NULL
         OR (${kind} = ANY (k.kinds) AND (k.platforms = '{}' OR ${platform(sql)} = ANY (k.platforms))))
    ) known ON true`;
}

/** One snapshot gives revision and reports: no report can be counted and not be in the revision, or the reverse. */
const factsOf = (
  sql: Sql,
  kind: KindName,
  which: Fragment,
): ReturnType<Statement<never, FactsRow>["build"]> => sql`
  SELECT ${factColumns(sql)}
  FROM ${tables[kind].from(sql)} ${factSources(sql, kind, sql`true`)}
  WHERE ${which}`;

export const readFacts = statement<
  { readonly kind: KindName; readonly ids: readonly string[] },
  FactsRow
>("readFacts", (sql, { kind, ids }) =>
  factsOf(sql, kind, sql`r.id = ANY (${ids}::uuid[]) AND r.deleted_at IS NULL`),
);

/** Some of those that are stale, whoever they belong to. By its two indexes: most are not. */
export const readSomeStaleFacts = statement<
  { readonly kind: KindName; readonly limit: number; readonly nowMs: number },
  FactsRow
>("readSomeStaleFacts", (sql, { kind, limit, nowMs }) => {
  const { resources } = tables[kind];
  return factsOf(
    sql,
    kind,
    sql`
      r.deleted_at IS NULL AND r.id IN (
        (SELECT id FROM ${sql(resources)} WHERE status_dirty AND deleted_at IS NULL LIMIT ${limit})
        UNION ALL
        (SELECT id FROM ${sql(resources)}
         WHERE status_expires_at IS NOT NULL AND status_expires_at <= to_timestamp(${nowMs / 1_000})
           AND deleted_at IS NULL
         ORDER BY status_expires_at LIMIT ${limit})
      )`,
  );
});

export interface NewStatus {
  readonly id: string;
  readonly revision: string;
  readonly status: Status;
  readonly expiresAtMs: number | undefined;
  /** The id of the event, should the phase be another. */
  readonly eventId: string;
}

/**
 * Caches statuses that are still true: those whose revision is as it was read, and which nobody else has cached. It waits
 * for no lock: who writes a resource makes its cache stale anyway. Gives the ids that it cached, and whether it
 * told of another phase.
 */
export const cacheStatuses = statement<
  { readonly kind: KindName; readonly statuses: readonly NewStatus[]; readonly nowMs: number },
  { id: string; told: boolean }
>("cacheStatuses", (sql, { kind, statuses, nowMs }) => {
  const { resources, from, platform, clusterId, nodepoolId } = tables[kind];
  return sql`
    WITH given AS (
      SELECT * FROM unnest(
        ${statuses.map(({ id }) => id)}::uuid[], ${statuses.map(({ revision }) => revision)}::bigint[],
        ${statuses.map(({ status }) => writeJson(status as unknown as Json))}::text[]::jsonb[],
        ${statuses.map(({ expiresAtMs }) => (expiresAtMs === undefined ? null : expiresAtMs / 1_000))}::float8[],
        ${statuses.map(({ eventId }) => eventId)}::uuid[]
      ) AS given (id, revision, status, expires_at, event_id)
    ), held AS (
      SELECT r.id, r.generation, r.created_by, r.status ->> 'phase' AS former, ${platform(sql)} AS platform,
             ${clusterId(sql)} AS cluster_id, ${nodepoolId(sql)} AS nodepool_id
      FROM ${from(sql)}
      WHERE r.id IN (SELECT id FROM given) AND r.deleted_at IS NULL AND ${isStale(sql, nowMs)}
        AND r.status_revision = (SELECT revision FROM given WHERE given.id = r.id)
      ORDER BY r.id FOR NO KEY UPDATE OF r SKIP LOCKED
    ), cached AS (
      UPDATE ${sql(resources)} r
      SET status = g.status, status_dirty = false, status_expires_at = to_timestamp(g.expires_at)
      FROM held h JOIN given g USING (id) WHERE r.id = h.id
      RETURNING r.id
    ), told AS (
      ${insertEvents(
        sql,
        sql`
          SELECT g.event_id, 'status.changed' AS type, h.cluster_id, h.nodepool_id, h.generation, h.platform,
                 'phase_changed' AS reason, h.created_by::text, NULL::jsonb AS caller,
                 jsonb_build_object('from', h.former, 'to', g.status ->> 'phase') AS metadata
          FROM held h JOIN given g USING (id)
          WHERE h.former <> g.status ->> 'phase'`,
      )}
      RETURNING ordering_key
    )
    SELECT c.id, t.ordering_key IS NOT NULL AS told
    FROM cached c LEFT JOIN told t ON t.ordering_key = c.id::text`;
});

/** How many resources there are in each phase; those never calculated are Pending. */
export const countPhases = statement<KindName, { phase: string; resources: number }>(
  "countPhases",
  (sql, kind) => sql`
    SELECT coalesce(status ->> 'phase', 'Pending') AS phase, count(*)::integer AS resources
    FROM ${sql(tables[kind].resources)} WHERE deleted_at IS NULL GROUP BY 1`,
);
