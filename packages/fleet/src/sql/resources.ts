// The table `resources`: what users want. Triggers do the rest of a write (0004-writes-by-sql.sql,
// 0011-one-look-at-a-write.sql).

import { isJsonObject, writeJson, type JsonObject } from "@keelson/base";
import { statement, type Sql } from "@keelson/database";
import type { Policies, Resource, ResourceKey } from "../resources/resource.ts";
import { readStored } from "./stored.ts";

/** What a resource is called, and how new it is. */
export interface NamedRow {
  readonly id: number;
  readonly cluster_id: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly api_version: string;
  readonly generation: number;
  readonly revision: number;
}

/** A row as the driver gives it; specs as text, because a parsed number may have lost digits. */
export interface ResourceRow extends NamedRow {
  readonly desired_spec: string;
  readonly conflict_policy: Policies["conflictPolicy"];
  readonly drift_policy: Policies["driftPolicy"];
  readonly immutable_policy: Policies["immutablePolicy"];
  readonly propagation: Policies["propagation"];
  readonly paused: boolean;
  readonly global_id: number | null;
  readonly is_deleting: boolean;
}

export function toResource(row: ResourceRow): Resource {
  return {
    id: row.id,
    clusterId: row.cluster_id,
    namespace: row.namespace,
    kind: row.kind,
    name: row.name,
    apiVersion: row.api_version,
    desiredSpec: specOf(row.desired_spec),
    generation: row.generation,
    revision: row.revision,
    conflictPolicy: row.conflict_policy,
    driftPolicy: row.drift_policy,
    immutablePolicy: row.immutable_policy,
    propagation: row.propagation,
    paused: row.paused,
    globalId: row.global_id ?? undefined,
    isDeleting: row.is_deleting,
  };
}

/** A spec from its column. A check of the table keeps it an object. */
export function specOf(text: string): JsonObject {
  const spec = readStored(text);
  if (!isJsonObject(spec)) throw new TypeError("a spec that is stored is an object");
  return spec;
}

/** The columns of a `NamedRow`, of `resources r`. */
export const namedColumns = (sql: Sql) => sql`
  r.id, r.cluster_id, r.namespace, r.kind, r.name, coalesce(r.api_version, '') AS api_version, r.generation,
  r.revision`;

/** The columns of a `ResourceRow`, of `resources r`. */
export const columns = (sql: Sql) => sql`
  ${namedColumns(sql)}, r.desired_spec::text AS desired_spec, r.conflict_policy, r.drift_policy,
  r.immutable_policy, r.propagation, r.paused, r.global_id, r.deleted_at IS NOT NULL AS is_deleting`;

/** What only REST knows of a write, for the triggers. It wakes the workers itself, after the commit. */
export interface Caller {
  readonly actor: string;
  readonly changeSet: string | undefined;
  readonly keepsRevision: boolean;
}

const told = (sql: Sql, { actor, changeSet = "", keepsRevision }: Caller) => sql`
  SELECT set_config('fleet.actor', ${actor}, true),
         set_config('fleet.change_set', ${changeSet}, true),
         set_config('fleet.keeps_revision', ${keepsRevision ? "on" : ""}, true),
         set_config('fleet.wakes', 'on', true)`;

/** For the statements of its transaction that do not say it themselves. */
export const writeAs = statement<Caller>("writeAs", told);

export interface Inserted extends ResourceKey, Policies {
  readonly desiredSpec: JsonObject;
  readonly revision: number;
  readonly paused: boolean;
}

function sent(row: Inserted): JsonObject {
  return {
    cluster_id: row.clusterId,
    namespace: row.namespace,
    kind: row.kind,
    name: row.name,
    api_version: row.apiVersion,
    desired_spec: row.desiredSpec,
    revision: row.revision,
    conflict_policy: row.conflictPolicy,
    drift_policy: row.driftPolicy,
    immutable_policy: row.immutablePolicy,
    propagation: row.propagation,
    paused: row.paused,
  };
}

/** In their order; no row for one whose key is taken, be it by one before it. */
export const insertResources = statement<
  { readonly caller: Caller; readonly rows: readonly Inserted[] },
  ResourceRow
>(
  "insertResources",
  (sql, { caller, rows }) => sql`
    WITH told AS MATERIALIZED (${told(sql, caller)})
    INSERT INTO resources AS r
      (cluster_id, namespace, kind, name, api_version, desired_spec, revision, conflict_policy, drift_policy,
       immutable_policy, propagation, paused)
    SELECT given.* FROM told CROSS JOIN jsonb_to_recordset(${writeJson(rows.map(sent))}::text::jsonb) AS given (
      cluster_id text, namespace text, kind text, name text, api_version text, desired_spec jsonb, revision integer,
      conflict_policy text, drift_policy text, immutable_policy text, propagation text, paused boolean)
    ON CONFLICT DO NOTHING
    RETURNING ${columns(sql)}`,
);

/** Writers of one resource wait here for each other. Not FOR UPDATE: the state tables' foreign keys would wait too. */
export const lockResource = statement<number, ResourceRow>(
  "lockResource",
  (sql, id) => sql`
    SELECT ${columns(sql)} FROM resources r WHERE id = ${id} FOR NO KEY UPDATE`,
);

/** The live resource of a key, locked. */
export const lockByKey = statement<ResourceKey & { readonly apiGroup: string }, ResourceRow>(
  "lockByKey",
  (sql, { clusterId, namespace, apiGroup, kind, name }) => sql`
    SELECT ${columns(sql)} FROM resources r
    WHERE cluster_id = ${clusterId} AND namespace = ${namespace} AND api_group = ${apiGroup}
      AND kind = ${kind} AND name = ${name} AND deleted_at IS NULL
    FOR NO KEY UPDATE`,
);

/** Everything that a PUT may change, changed or not. */
export const updateResource = statement<
  Policies &
    Pick<Resource, "id" | "apiVersion" | "desiredSpec" | "revision" | "paused"> & {
      readonly caller: Caller;
    },
  ResourceRow
>(
  "updateResource",
  (sql, { caller, desiredSpec, ...row }) => sql`
    WITH told AS MATERIALIZED (${told(sql, caller)})
    UPDATE resources r
    SET api_version = ${row.apiVersion}, desired_spec = ${writeJson(desiredSpec)}::text::jsonb,
        revision = ${row.revision}, conflict_policy = ${row.conflictPolicy}, drift_policy = ${row.driftPolicy},
        immutable_policy = ${row.immutablePolicy}, propagation = ${row.propagation}, paused = ${row.paused}
    FROM told
    WHERE id = ${row.id}
    RETURNING ${columns(sql)}`,
);

export const markDeleted = statement<number, ResourceRow>(
  "markDeleted",
  (sql, id) => sql`
    UPDATE resources r SET deleted_at = now() WHERE id = ${id} RETURNING ${columns(sql)}`,
);

/** The object stays in its cluster, and nobody looks after it any more. */
export const forgetResource = statement<number>(
  "forgetResource",
  (sql, id) => sql`DELETE FROM resources WHERE id = ${id}`,
);

/** What the history holds of a revision, its newest generation; or of one generation. */
export const findRevision = statement<
  { readonly id: number; readonly revision: number | null; readonly generation: number | null },
  { revision: number; api_version: string; desired_spec: string }
>(
  "findRevision",
  (sql, { id, revision, generation }) => sql`
    SELECT revision, coalesce(api_version, '') AS api_version, desired_spec::text AS desired_spec
    FROM resource_revisions
    WHERE resource_id = ${id}
      AND (revision = ${revision}::integer OR generation = ${generation}::integer)
    ORDER BY generation DESC LIMIT 1`,
);

/** Whether a target is registered. */
export const hasTarget = statement<string, { found: boolean }>(
  "hasTarget",
  (sql, clusterId) => sql`
    SELECT EXISTS (SELECT FROM targets WHERE cluster_id = ${clusterId}) AS found`,
);

/** Asks for work now, whatever failed before; not while it is paused. */
export const askForWork = statement<number>(
  "askForWork",
  (sql, id) => sql`
    UPDATE resource_attempts t
    SET due_at = clock_timestamp(), requests = requests + 1, attempts = 0, repair_after = NULL
    FROM resources r WHERE r.id = ${id} AND t.resource_id = r.id AND NOT r.paused`,
);

/** Of `resource_attempts t`. A row that was lost and entered anew knows of no attempt, but what was applied does. */
export const neverBegun = (sql: Sql) => sql`
  t.last_attempt_at IS NULL AND t.lease_owner IS NULL
  AND NOT EXISTS (SELECT FROM resource_applied_states a WHERE a.resource_id = t.resource_id)`;

/**
 * Removes a resource that no worker has ever begun: there is nothing in the cluster to wait for. The row of its attempts
 * is locked first, and a claim writes there: one of the two comes first.
 */
export const purgeUntouched = statement<number>(
  "purgeUntouched",
  (sql, id) => sql`
    WITH untouched AS (
      SELECT t.resource_id FROM resource_attempts t WHERE t.resource_id = ${id} AND ${neverBegun(sql)}
      FOR UPDATE
    ), told AS MATERIALIZED (
      SELECT set_config('fleet.reason', 'NeverApplied', true)
    )
    DELETE FROM resources r USING told, untouched u
    WHERE r.id = u.resource_id AND r.deleted_at IS NOT NULL`,
);
