// What clusters and nodepools have in common, and the few words in which they differ.

import type { RestErrorCode } from "@keelson/base";

export type KindName = "cluster" | "nodepool";

export interface Kind {
  readonly name: KindName;
  /** The member that holds its id, in answers and in its own tables. */
  readonly idField: "cluster_id" | "nodepool_id";
  /** The member of a list's answer, which is its path too. */
  readonly plural: "clusters" | "nodepools";
  readonly nameTaken: RestErrorCode;
  /** How many a page may hold. */
  readonly limitMax: number;
  /** Whether a deletion must be meant: allowed in some phases only, unless it is confirmed. */
  readonly hasPhaseGate: boolean;
}

export const kinds = {
  cluster: {
    name: "cluster",
    idField: "cluster_id",
    plural: "clusters",
    nameTaken: "CLUSTER_NAME_EXISTS",
    limitMax: 100,
    hasPhaseGate: true,
  },
  nodepool: {
    name: "nodepool",
    idField: "nodepool_id",
    plural: "nodepools",
    nameTaken: "NODEPOOL_NAME_EXISTS",
    limitMax: 1_000,
    hasPhaseGate: false,
  },
} as const satisfies Record<KindName, Kind>;
