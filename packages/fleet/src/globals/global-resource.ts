// A global resource: what somebody wants in every target that a selector chooses. Its copies are resources.

import type { JsonObject } from "@keelson/base";
import type { ListedGlobalRow, PlacementRow } from "../sql/globals.ts";
import type { SecretMarkers } from "../resources/secret-markers.ts";
import type { Resource } from "../resources/resource.ts";

export interface GlobalResource extends Resource {
  /** Null: every target. */
  readonly selector: JsonObject | null;
}

/** How far it got as a whole. A copy that is stuck is told before those that are only on their way. */
export function statusOf({
  isDeleting,
  total,
  synced,
  stuck,
}: {
  readonly isDeleting: boolean;
  readonly total: number;
  readonly synced: number;
  readonly stuck: number;
}): string {
  if (isDeleting) return "deleting";
  if (stuck > 0) return "error";
  return synced === total ? "synced" : "pending";
}

/** The whole of it, with its clusters. */
export function globalAnswer(
  global: GlobalResource & { readonly createdAt: string },
  placements: readonly PlacementRow[],
  markers: SecretMarkers,
): JsonObject {
  const { id, namespace, kind, name, apiVersion, generation, revision } = global;
  const clusters = placements.map(clusterStatus);
  const counts = {
    total: placements.filter(({ state }) => state !== "leaving").length,
    synced: clusters.filter(({ is_synced }) => is_synced).length,
    stuck: clusters.filter(({ status }) => status === "conflict" || status === "error").length,
  };
  return {
    id,
    namespace,
    kind,
    name,
    api_version: apiVersion,
    desired_spec: markers.hide(global.desiredSpec, global),
    generation,
    revision,
    status: statusOf({ isDeleting: global.isDeleting, ...counts }),
    selector: global.selector,
    conflict_policy: global.conflictPolicy,
    drift_policy: global.driftPolicy,
    immutable_policy: global.immutablePolicy,
    propagation: global.propagation,
    paused: global.paused,
    created_at: global.createdAt,
    total_clusters: counts.total,
    synced_clusters: counts.synced,
    cluster_statuses: clusters,
  };
}

/** An alias, not an interface: only so is it JSON to the compiler. */
type ClusterStatus = {
  readonly cluster_id: string;
  readonly resource_id: number | null;
  readonly synced_generation: number | null;
  readonly is_synced: boolean;
  readonly status: string;
};

function clusterStatus(row: PlacementRow): ClusterStatus {
  const { cluster_id, resource_id, synced_generation, state } = row;
  const status = state === "conflict" ? "conflict" : (row.status ?? "pending");
  const is_synced = state === "placed" && status === "synced";
  return { cluster_id, resource_id, synced_generation, is_synced, status };
}

/** An item of a list. */
export function listedGlobalAnswer(row: ListedGlobalRow): JsonObject {
  const { id, namespace, kind, name, api_version, generation, revision, paused, created_at } = row;
  const { total_clusters, synced_clusters, stuck_clusters } = row;
  const status = statusOf({
    isDeleting: row.is_deleting,
    total: total_clusters,
    synced: synced_clusters,
    stuck: stuck_clusters,
  });
  return {
    id,
    namespace,
    kind,
    name,
    api_version,
    generation,
    revision,
    status,
    paused,
    created_at,
    total_clusters,
    synced_clusters,
  };
}

/** What whoever wrote it should know at once. */
export function placementWarnings(placements: readonly PlacementRow[]): readonly JsonObject[] {
  if (placements.every(({ state }) => state === "leaving")) {
    const message = "no target is selected: it is delivered once one is";
    return [{ code: "no_target", message }];
  }
  const taken = placements.filter(({ state }) => state === "conflict");
  if (taken.length === 0) return [];
  const clusters = taken.map(({ cluster_id }) => cluster_id).join(", ");
  const message = `a resource of its key is left alone in ${clusters}: it is delivered there once that one goes`;
  return [{ code: "conflict", message }];
}
