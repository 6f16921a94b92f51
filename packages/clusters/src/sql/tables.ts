// The tables of a kind, as parts of statements. In all of them the resource is `r`.

import type { Sql } from "@keelson/database";
import type { KindName } from "../kinds.ts";
import type { Fragment } from "./events.ts";

interface Tables {
  readonly resources: string;
  readonly reports: string;
  readonly schedule: string;
  /** The column of the last two that leads to the first. */
  readonly key: string;
  /** What the resource is read from. */
  readonly from: (sql: Sql) => Fragment;
  /** Its platform, in small letters; a nodepool without one has the cluster's. */
  readonly platform: (sql: Sql) => Fragment;
  readonly clusterId: (sql: Sql) => Fragment;
  readonly nodepoolId: (sql: Sql) => Fragment;
}

export const tables: Record<KindName, Tables> = {
  cluster: {
    resources: "clusters",
    reports: "controller_status",
    schedule: "reconciliation_schedule",
    key: "cluster_id",
    from: (sql) => sql`clusters r`,
    platform: (sql) => sql`platform_of(r.spec)`,
    clusterId: (sql) => sql`r.id`,
    nodepoolId: (sql) => sql`NULL::uuid`,
  },
  nodepool: {
    resources: "nodepools",
    reports: "nodepool_controller_status",
    schedule: "nodepool_reconciliation_schedule",
    key: "nodepool_id",
    from: (sql) => sql`nodepools r JOIN clusters c ON c.id = r.cluster_id`,
    platform: (sql) => sql`coalesce(platform_of(r.spec), platform_of(c.spec))`,
    clusterId: (sql) => sql`r.cluster_id`,
    nodepoolId: (sql) => sql`r.id`,
  },
};

/** Whether the cached status of `r` cannot be shown at `nowMs`. */
export function isStale(sql: Sql, nowMs: number): Fragment {
  return sql`
    (r.status_dirty IS NOT FALSE OR r.status IS NULL OR r.status_expires_at <= to_timestamp(${nowMs / 1_000})
     OR r.status -> 'observedGeneration' IS DISTINCT FROM to_jsonb(r.generation))`;
}
