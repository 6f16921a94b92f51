// The table `targets`: which clusters there are, how they are reached, and how they are.

import { writeJson, type JsonObject } from "@keelson/base";
import { statement, type Sql } from "@keelson/database";

/** A target as REST shows it; nothing of its credential. */
export interface TargetRow {
  readonly cluster_id: string;
  readonly server: string | null;
  readonly labels: string;
  readonly paused: boolean;
  readonly health: string;
  readonly health_message: string | null;
  readonly last_contact_at: string | null;
  readonly in_process: boolean;
  readonly agent: boolean;
  readonly is_deleting: boolean;
}

const columns = (sql: Sql) => sql`
  cluster_id, server, labels::text AS labels, paused, health, health_message, shown(last_contact_at) AS last_contact_at,
  in_process, agent, deleted_at IS NOT NULL AS is_deleting`;

export const findTarget = statement<string, TargetRow>(
  "findTarget",
  (sql, clusterId) => sql`SELECT ${columns(sql)} FROM targets WHERE cluster_id = ${clusterId}`,
);

/** In the order of their ids, byte by byte, after one of them. Null: every cluster is the caller's. */
export const listTargets = statement<
  { readonly after: string; readonly limit: number; readonly clusters: readonly string[] | null },
  TargetRow
>(
  "listTargets",
  (sql, { after, limit, clusters }) => sql`
    SELECT ${columns(sql)} FROM targets
    WHERE cluster_id COLLATE "C" > ${after}
      ${clusters === null ? sql`` : sql`AND cluster_id = ANY (${clusters}::text[])`}
    ORDER BY cluster_id COLLATE "C" LIMIT ${limit}`,
);

/** Those of them to which nothing is written. */
export const findPausedTargets = statement<readonly string[], { readonly cluster_id: string }>(
  "findPausedTargets",
  (sql, clusterIds) => sql`
    SELECT cluster_id FROM targets WHERE cluster_id = ANY (${clusterIds}::text[]) AND paused`,
);

/** What somebody decides of a target. No credential: it is the process's own server, or served from inside. */
export interface TargetState {
  readonly clusterId: string;
  readonly credential: Uint8Array | null;
  readonly inProcess: boolean;
  readonly agent: boolean;
  readonly server: string | null;
  readonly labels: JsonObject;
  readonly paused: boolean;
}

/** No row: there is one already. */
export const insertTarget = statement<TargetState, TargetRow>(
  "insertTarget",
  (sql, { labels, ...target }) => sql`
    INSERT INTO targets (cluster_id, credential, in_process, agent, server, labels, paused)
    VALUES (${target.clusterId}, ${target.credential}, ${target.inProcess}, ${target.agent}, ${target.server},
            ${writeJson(labels)}::text::jsonb, ${target.paused})
    ON CONFLICT (cluster_id) DO NOTHING
    RETURNING ${columns(sql)}`,
);

/** With its credential: for whoever changes it. */
export interface HeldTargetRow extends TargetRow {
  readonly credential: Uint8Array | null;
}

export const readTarget = statement<string, HeldTargetRow>(
  "readTarget",
  (sql, clusterId) => sql`
    SELECT ${columns(sql)}, credential FROM targets WHERE cluster_id = ${clusterId}`,
);

/** Other writers wait. */
export const lockTarget = statement<string, HeldTargetRow>(
  "lockTarget",
  (sql, clusterId) => sql`
    SELECT ${columns(sql)}, credential FROM targets WHERE cluster_id = ${clusterId} FOR NO KEY UPDATE`,
);

/** Another credential may be for another cluster: what was known of its health is no more. */
export const updateTarget = statement<TargetState, TargetRow>(
  "updateTarget",
  (sql, { labels, ...target }) => sql`
    UPDATE targets
    SET credential = ${target.credential}, in_process = ${target.inProcess}, agent = ${target.agent},
        server = ${target.server}, labels = ${writeJson(labels)}::text::jsonb, paused = ${target.paused},
        health = CASE WHEN (credential, agent) IS DISTINCT FROM (${target.credential}::bytea, ${target.agent}::boolean)
                      THEN 'Unknown' ELSE health END,
        health_message = CASE WHEN (credential, agent) IS DISTINCT FROM
                                   (${target.credential}::bytea, ${target.agent}::boolean)
                              THEN NULL ELSE health_message END
    WHERE cluster_id = ${target.clusterId}
    RETURNING ${columns(sql)}`,
);

/** How many resources somebody wants in it; copies of global ones do not count. */
export const countOwn = statement<string, { own: number }>(
  "countOwn",
  (sql, clusterId) => sql`
    SELECT count(*)::integer AS own FROM resources WHERE cluster_id = ${clusterId} AND global_id IS NULL`,
);

/** What is in the cluster stays there, and nobody looks after it any more. */
export const forgetTarget = statement<string>(
  "forgetTarget",
  (sql, clusterId) => sql`SELECT forget_target(${clusterId})`,
  { deadlineMs: 30_000 },
);

/** Copies of global resources go first: while there are some the row stays, is marked, and goes after the last resource. */
export const deleteTarget = statement<string>(
  "deleteTarget",
  (sql, clusterId) => sql`DELETE FROM targets WHERE cluster_id = ${clusterId}`,
);

/** How a cluster is reached. */
export interface AccessRow {
  readonly credential: Uint8Array | null;
  readonly in_process: boolean;
  readonly agent: boolean;
}

export const findAccess = statement<string, AccessRow>(
  "findAccess",
  (sql, clusterId) => sql`
    SELECT credential, in_process, agent FROM targets WHERE cluster_id = ${clusterId}`,
);

/** Credentials that another key made than this one, in the order of their clusters. */
export const findSealedOtherwise = statement<
  { readonly keyId: Uint8Array; readonly after: string; readonly limit: number },
  { readonly cluster_id: string; readonly credential: Uint8Array }
>(
  "findSealedOtherwise",
  (sql, { keyId, after, limit }) => sql`
    SELECT cluster_id, credential FROM targets
    WHERE credential IS NOT NULL AND substring(credential FROM 2 FOR 8) <> ${keyId}::bytea
      AND cluster_id COLLATE "C" > ${after}
    ORDER BY cluster_id COLLATE "C" LIMIT ${limit}`,
);

/** The same credential under another key, unless somebody has changed it meanwhile. */
export const resealCredential = statement<
  { readonly clusterId: string; readonly before: Uint8Array; readonly credential: Uint8Array },
  { readonly cluster_id: string }
>(
  "resealCredential",
  (sql, { clusterId, before, credential }) => sql`
    WITH told AS MATERIALIZED (SELECT set_config('fleet.actor', 'worker', true))
    UPDATE targets SET credential = ${credential} FROM told
    WHERE cluster_id = ${clusterId} AND credential = ${before}
    RETURNING cluster_id`,
);
