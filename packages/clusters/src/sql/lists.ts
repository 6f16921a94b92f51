// Pages of resources, newest first.

import { statement, type Sql } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { StatusRules } from "../status/aggregate.ts";
import type { Phase } from "../status/status.ts";
import type { Fragment } from "./events.ts";
import { isInPhase } from "./phases.ts";
import { columns, type ResourceRow } from "./resources.ts";
import { factColumns, factSources, type FactsRow } from "./statuses.ts";
import { isStale, tables } from "./tables.ts";

/** Everything but the phase, which may have to be calculated. */
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

function matches(sql: Sql, kind: KindName, filter: ResourceFilter): Fragment {
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

export interface PageAsked {
  readonly kind: KindName;
  readonly filter: ResourceFilter;
  /** Undefined for any. */
  readonly phase: Phase | undefined;
  readonly rules: StatusRules;
  readonly limit: number;
  readonly offset: number;
  readonly nowMs: number;
}

/**
 * Resources, with what their statuses are made of where a cache cannot be shown. One snapshot says which are in a phase
 * and why: what is calculated of them is the phase that was asked for.
 */
export const listResources = statement<PageAsked, ResourceRow & FactsRow>(
  "listResources",
  (sql, asked) => {
    const { kind, limit, offset, nowMs } = asked;
    const { from } = tables[kind];
    return sql`
    WITH page AS MATERIALIZED (
      SELECT r.id FROM ${from(sql)} WHERE ${isWanted(sql, asked)}
      ORDER BY r.created_at DESC, r.id DESC LIMIT ${limit} OFFSET ${offset}
    )
    SELECT ${columns(sql, kind, nowMs)}, ${factColumns(sql)}
    FROM ${from(sql)} ${factSources(sql, kind, isStale(sql, nowMs))}
    WHERE r.id IN (SELECT id FROM page)
    ORDER BY r.created_at DESC, r.id DESC`;
  },
);

export const countResources = statement<PageAsked, { total: number }>(
  "countResources",
  (sql, asked) => sql`
    SELECT count(*)::integer AS total FROM ${tables[asked.kind].from(sql)}
    WHERE ${isWanted(sql, asked)}`,
);

function isWanted(sql: Sql, { kind, filter, phase, rules, nowMs }: PageAsked): Fragment {
  const inPhase =
    phase === undefined ? sql`` : sql`AND ${isInPhase(sql, { kind, phase, rules, nowMs })}`;
  return sql`${matches(sql, kind, filter)} ${inPhase}`;
}
