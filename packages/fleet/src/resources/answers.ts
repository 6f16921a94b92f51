// What REST shows of a resource. Values of Secrets never are.

import type { Json, JsonObject } from "@keelson/base";
import { specOf } from "../sql/resources.ts";
import type { DetailsRow, ListedRow, RevisionRow } from "../sql/resource-details.ts";
import { readStored } from "../sql/stored.ts";
import { troubleOf } from "../worker/failure.ts";
import { conditionsOf } from "./conditions.ts";
import type { SecretMarkers } from "./secret-markers.ts";

/** The whole of a resource (3.2, 3.4). */
export function detailsAnswer(row: DetailsRow, markers: SecretMarkers): JsonObject {
  const key = keyOf(row);
  const shownSpec = (text: string | null): Json =>
    text === null ? null : markers.hide(specOf(text), key);
  return {
    id: row.id,
    cluster_id: row.cluster_id,
    namespace: row.namespace,
    kind: row.kind,
    name: row.name,
    api_version: row.api_version,
    desired_spec: shownSpec(row.desired_spec),
    generation: row.generation,
    revision: row.revision,
    status: row.status,
    health: row.health,
    health_message: row.health_message,
    applied:
      row.applied_status === null
        ? null
        : {
            spec: shownSpec(row.applied_spec),
            generation: row.applied_generation,
            revision: row.applied_revision,
            status: row.applied_status,
            error_message: row.applied_error,
            applied_at: row.applied_at,
          },
    current: row.has_current
      ? {
          spec: shownSpec(row.current_spec),
          generation: row.current_generation,
          revision: row.current_revision,
          k8s_resource_version: row.k8s_resource_version,
          uid: row.uid,
          observed_at: row.observed_at,
        }
      : null,
    drift: row.drift === null ? null : readStored(row.drift),
    last_error: lastError(row),
    conditions: conditionsOf(row),
    timeline: {
      committed_at: row.committed_at,
      claimed_at: row.last_attempt_at,
      applied_at: row.applied_at,
      observed_at: row.observed_at,
    },
    conflict_policy: row.conflict_policy,
    drift_policy: row.drift_policy,
    immutable_policy: row.immutable_policy,
    propagation: row.propagation,
    paused: row.paused,
    global_id: row.global_id,
    created_at: row.created_at,
  };
}

/** What stops it now: its own failure at the present generation, else its target's trouble, else what failed before. */
function lastError(row: DetailsRow): Json {
  const isStuck = row.error_class !== null && row.failed_generation === row.generation;
  if (!isStuck && row.target_health === "Unreachable") return targetError(row);
  if (row.error_class === null) return null;
  return {
    class: row.error_class,
    message: row.error_message,
    generation: row.failed_generation,
    http_status: row.http_status,
    attempts: row.attempts,
    next_attempt_at: row.due_at,
  };
}

/** No attempt of the resource has failed by it. */
function targetError(row: DetailsRow): Json {
  const { reason, message } = troubleOf(row.target_message ?? "");
  return {
    class: reason,
    message,
    generation: null,
    http_status: null,
    attempts: row.attempts,
    next_attempt_at: row.due_at,
  };
}

/** An item of a list. */
export function listedAnswer(row: ListedRow): JsonObject {
  const { id, cluster_id, namespace, kind, name, api_version } = row;
  const { generation, revision, status, health, paused, created_at } = row;
  return {
    id,
    cluster_id,
    namespace,
    kind,
    name,
    api_version,
    generation,
    revision,
    status,
    health,
    paused,
    created_at,
  };
}

/** A line of the history. */
export function revisionAnswer(
  row: RevisionRow,
  resource: Pick<DetailsRow, "id" | "cluster_id" | "namespace" | "kind" | "name">,
  markers: SecretMarkers,
): JsonObject {
  const { generation, revision, api_version, actor, change_set, created_at } = row;
  const key = keyOf({ ...resource, api_version });
  return {
    resource_id: resource.id,
    generation,
    revision,
    api_version,
    desired_spec: markers.hide(specOf(row.desired_spec), key),
    actor,
    change_set,
    created_at,
  };
}

function keyOf(
  row: Pick<DetailsRow, "cluster_id" | "namespace" | "kind" | "name" | "api_version">,
): Parameters<SecretMarkers["hide"]>[1] {
  return {
    clusterId: row.cluster_id,
    namespace: row.namespace,
    kind: row.kind,
    name: row.name,
    apiVersion: row.api_version,
  };
}
