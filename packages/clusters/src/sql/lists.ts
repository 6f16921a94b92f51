// Pages of resources, newest first.

import { statement, type Sql } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { Fragment } from "./events.ts";
import { columns, type ResourceRow } from "./resources.ts";
import { tables } from "./tables.ts";

/** Everything but the phase, which may not be in the table yet. */
export interface ResourceFilter {
  /** Null for everybody's. */
  readonly createdBy: string | null;
  /** Null for any; for nodepools. */
  readonly clusterId: string | null;
  /** In small letters. */
  readonly platform: string | null;
  readonly name: { readonly text: string; readonly isPrefix: boolean } | null;
  readonly includeDeleted: boolean;
}

/** A phase that is asked for, and those that were calculated just now and may not be cached. */
export interface PhaseFilter {
  readonly phase: string;
  readonly calculated: ReadonlyMap<string, string>;
}

export function matches(sql: Sql, kind: KindName, filter: ResourceFilter): Fragment {
  const { createdBy, clusterId, platform, name, includeDeleted } = filter;
  return sql`
    ${includeDeleted ? sql`true` : sql`r.deleted_at IS NULL`}
    ${createdBy === null ? sql`` : sql`AND r.created_by = ${createdBy}`}
    ${clusterId === null ? sql`` : sql`AND ${tables[kind].clusterId(sql)} = ${clusterId}`}
    ${platform === null ? sql`` : sql`AND ${tables[kind].platform(sql)} = ${platform}`}
    ${
      name === null
        ? sql``
        : name.isPrefix
          ? sql`AND starts_with(r.name, ${name.text})`
          : sql`AND r.name = ${name.text}`
    }`;
}

/** What is read, and where a phase is asked for, the phases that were calculated just now beside it. */
function source(sql: Sql, kind: KindName, wanted: PhaseFilter | undefined): Fragment {
  if (wanted === undefined) return tables[kind].from(sql);
  const ids = [...wanted.calculated.keys()];
  const phases = [...wanted.calculated.values()];
  return sql`
    ${tables[kind].from(sql)}
    LEFT JOIN unnest(${ids}::uuid[], ${phases}::text[]) AS known (id, phase) ON known.id = r.id`;
}

/** `Error` is reserved, and read as Failed. */
function isInPhase(sql: Sql, wanted: PhaseFilter | undefined): Fragment {
  if (wanted === undefined) return sql``;
  return sql`
    AND ${wanted.phase} = CASE coalesce(known.phase, r.status ->> 'phase')
      WHEN 'Error' THEN 'Failed' ELSE coalesce(known.phase, r.status ->> 'phase') END`;
}

export interface PageAsked {
  readonly kind: KindName;
  readonly filter: ResourceFilter;
  readonly phase: PhaseFilter | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly nowMs: number;
}

export const listResources = statement<PageAsked, ResourceRow>(
  "listResources",
  (sql, { kind, filter, phase, limit, offset, nowMs }) => sql`
    SELECT ${columns(sql, kind, nowMs)} FROM ${source(sql, kind, phase)}
    WHERE ${matches(sql, kind, filter)} ${isInPhase(sql, phase)}
    ORDER BY r.created_at DESC, r.id DESC LIMIT ${limit} OFFSET ${offset}`,
);

export const countResources = statement<
  Pick<PageAsked, "kind" | "filter" | "phase">,
  { total: number }
>(
  "countResources",
  (sql, { kind, filter, phase }) => sql`
    SELECT count(*)::integer AS total FROM ${source(sql, kind, phase)}
    WHERE ${matches(sql, kind, filter)} ${isInPhase(sql, phase)}`,
);
