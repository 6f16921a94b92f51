// The table `targets`: which clusters there are, and how they are.

import { statement } from "@keelson/database";

/** What was last seen of a target. Only an answer is a contact. */
export const markTarget = statement<{
  readonly clusterId: string;
  readonly health: "Healthy" | "Degraded" | "Unreachable";
  readonly message: string | null;
}>(
  "markTarget",
  (sql, { clusterId, health, message }) => sql`
    UPDATE targets
    SET health = ${health}, health_message = ${message},
        last_contact_at = CASE WHEN ${health} = 'Unreachable' THEN last_contact_at ELSE clock_timestamp() END
    WHERE cluster_id = ${clusterId}`,
);

/** The server of this process, as a target: there from the first start, and never anybody's secret. */
export const registerLocal = statement<{ readonly clusterId: string; readonly server: string }>(
  "registerLocal",
  (sql, { clusterId, server }) => sql`
    INSERT INTO targets (cluster_id, in_process, server) VALUES (${clusterId}, true, ${server})
    ON CONFLICT (cluster_id) DO UPDATE SET server = excluded.server WHERE targets.in_process`,
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
