// Everything that is known of a resource, in one statement; and pages of many, without their specs.

import { statement, type Sql } from "@keelson/database";
import { columns, namedColumns, type NamedRow, type ResourceRow } from "./resources.ts";

/** A resource with its two states, its attempts and its target. Times as text of RFC 3339, specs as JSON text. */
export interface DetailsRow extends ResourceRow {
  readonly created_at: string;
  readonly committed_at: string;
  readonly deletion_asked_at: string | null;
  readonly status: string;
  readonly health: string;
  readonly health_message: string | null;
  readonly applied_spec: string | null;
  readonly applied_generation: number | null;
  readonly applied_revision: number | null;
  readonly applied_status: string | null;
  readonly applied_error: string | null;
  readonly applied_at: string | null;
  readonly has_current: boolean;
  readonly current_spec: string | null;
  readonly current_generation: number | null;
  readonly current_revision: number | null;
  readonly k8s_resource_version: string | null;
  readonly uid: string | null;
  readonly observed_at: string | null;
  readonly absent_at: string | null;
  readonly drifted: boolean;
  readonly drift: string | null;
  readonly contested: string | null;
  readonly attempts: number;
  readonly failed_generation: number | null;
  readonly error_class: string | null;
  readonly http_status: number | null;
  readonly error_message: string | null;
  readonly last_attempt_at: string | null;
  readonly due_at: string | null;
  readonly target_health: string | null;
  readonly target_message: string | null;
  readonly target_contact_at: string | null;
  readonly target_paused: boolean;
}

export const findDetails = statement<number, DetailsRow>(
  "findDetails",
  (sql, id) => sql`
    SELECT ${columns(sql)},
           shown(r.created_at AT TIME ZONE 'UTC') AS created_at,
           shown(r.updated_at AT TIME ZONE 'UTC') AS committed_at,
           shown(r.deleted_at AT TIME ZONE 'UTC') AS deletion_asked_at,
           s.status, s.health, c.health_message,
           a.spec::text AS applied_spec, a.generation AS applied_generation, a.revision AS applied_revision,
           a.status AS applied_status, a.error_message AS applied_error, shown(a.applied_at) AS applied_at,
           c.id IS NOT NULL AS has_current, c.spec::text AS current_spec, c.generation AS current_generation,
           c.revision AS current_revision, c.k8s_resource_version, c.uid, shown(c.observed_at) AS observed_at,
           shown(c.deleted_at AT TIME ZONE 'UTC') AS absent_at, coalesce(c.drifted, false) AS drifted,
           c.drift::text AS drift, c.contested,
           coalesce(t.attempts, 0) AS attempts, t.failed_generation, t.error_class, t.http_status, t.error_message,
           shown(t.last_attempt_at) AS last_attempt_at, shown(t.due_at) AS due_at,
           g.health AS target_health, g.health_message AS target_message,
           shown(g.last_contact_at) AS target_contact_at, coalesce(g.paused, false) AS target_paused
    FROM resources r
    JOIN resource_statuses s ON s.resource_id = r.id
    LEFT JOIN resource_applied_states a ON a.resource_id = r.id
    LEFT JOIN resource_current_states c ON c.resource_id = r.id
    LEFT JOIN resource_attempts t ON t.resource_id = r.id
    LEFT JOIN targets g ON g.cluster_id = r.cluster_id
    WHERE r.id = ${id}`,
);

/** Which resources: all that every given filter lets through. Null: no such filter. */
export interface ResourceFilter {
  readonly clusterId: string | null;
  readonly namespace: string | null;
  readonly kind: string | null;
  readonly name: string | null;
  readonly status: string | null;
  readonly labelKey: string | null;
  readonly labelValue: string | null;
  /** The clusters that the caller may see; null: all. */
  readonly clusters: readonly string[] | null;
}

export interface ListedRow extends NamedRow {
  readonly status: string;
  readonly health: string;
  readonly paused: boolean;
  readonly created_at: string;
}

/** One more than the page: whoever gets it knows that there is another. */
export const listResources = statement<
  ResourceFilter & { readonly after: number; readonly limit: number },
  ListedRow
>(
  "listResources",
  (sql, { after, limit, status, ...filter }) => sql`
    SELECT ${namedColumns(sql)}, s.status, s.health, r.paused,
           shown(r.created_at AT TIME ZONE 'UTC') AS created_at
    FROM resources r JOIN resource_statuses s ON s.resource_id = r.id
    WHERE r.id > ${after} AND ${passes(sql, filter)}
      ${status === null ? sql`` : sql`AND s.status = ${status}`}
    ORDER BY r.id LIMIT ${limit}`,
);

export const countResources = statement<ResourceFilter, { total: number }>(
  "countResources",
  (sql, { status, ...filter }) =>
    status === null
      ? sql`SELECT count(*)::integer AS total FROM resources r WHERE ${passes(sql, filter)}`
      : sql`
          SELECT count(*)::integer AS total
          FROM resources r JOIN resource_statuses s ON s.resource_id = r.id
          WHERE s.status = ${status} AND ${passes(sql, filter)}`,
);

/** Only the filters that are given: one that says "or none" would keep PostgreSQL from using its indexes. */
function passes(sql: Sql, filter: Omit<ResourceFilter, "status">): ReturnType<Sql> {
  const { clusterId, namespace, kind, name, labelKey, labelValue, clusters } = filter;
  return sql`true
    ${clusterId === null ? sql`` : sql`AND r.cluster_id = ${clusterId}`}
    ${clusters === null ? sql`` : sql`AND r.cluster_id = ANY (${clusters}::text[])`}
    ${namespace === null ? sql`` : sql`AND r.namespace = ${namespace}`}
    ${kind === null ? sql`` : sql`AND r.kind = ${kind}`}
    ${name === null ? sql`` : sql`AND r.name = ${name}`}
    ${labelKey === null ? sql`` : sql`AND r.desired_spec #>> ${["metadata", "labels", labelKey]} = ${labelValue}`}`;
}

export interface RevisionRow {
  readonly generation: number;
  readonly revision: number;
  readonly api_version: string;
  readonly desired_spec: string;
  readonly actor: string;
  readonly change_set: string | null;
  readonly created_at: string;
}

/** The history of a resource, newest first. */
export const listRevisions = statement<
  { readonly id: number; readonly before: number; readonly limit: number },
  RevisionRow
>(
  "listRevisions",
  (sql, { id, before, limit }) => sql`
    SELECT generation, revision, coalesce(api_version, '') AS api_version, desired_spec::text AS desired_spec,
           actor, change_set, shown(created_at) AS created_at
    FROM resource_revisions WHERE resource_id = ${id} AND generation < ${before}
    ORDER BY generation DESC LIMIT ${limit}`,
);

export const findStatuses = statement<readonly number[], { resource_id: number; status: string }>(
  "findStatuses",
  (sql, ids) => sql`
    SELECT resource_id, status FROM resource_statuses WHERE resource_id = ANY (${ids}::integer[])`,
);
