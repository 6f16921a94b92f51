// A cluster or a nodepool: what is stored of it, and what a caller is shown.

import type { Json, JsonObject } from "@keelson/base";
import type { KindName } from "../kinds.ts";
import type { Report } from "../reports/report.ts";
import type { Status } from "../status/status.ts";

export interface Resource {
  readonly kind: KindName;
  readonly id: string;
  /** Its own for a cluster. */
  readonly clusterId: string;
  readonly name: string;
  readonly spec: JsonObject;
  /** The status as it was calculated last. */
  readonly cached: Status | undefined;
  /** Whether that cannot be shown any more. */
  readonly isStale: boolean;
  readonly createdBy: string;
  readonly generation: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly targetProjectId: string | null;
  readonly organizationId: string | null;
  readonly resourceVersion: string;
  readonly deletionTimestamp: Date | null;
  readonly deletedAt: Date | null;
  /** In small letters. */
  readonly platform: string;
}

/** The resource as callers see it; `spec` is what may be shown of it. */
export function resourceAnswer(
  resource: Resource,
  { spec, status }: { readonly spec: JsonObject; readonly status: Status | undefined },
): JsonObject {
  return {
    id: resource.id,
    ...(resource.kind === "nodepool" ? { cluster_id: resource.clusterId } : {}),
    name: resource.name,
    target_project_id: resource.targetProjectId,
    created_by: resource.createdBy,
    generation: resource.generation,
    resource_version: resource.resourceVersion,
    spec,
    status: (status ?? null) as unknown as Json,
    created_at: resource.createdAt.toISOString(),
    updated_at: resource.updatedAt.toISOString(),
    ...(resource.deletionTimestamp === null
      ? {}
      : { deletion_timestamp: resource.deletionTimestamp.toISOString() }),
    ...(resource.deletedAt === null ? {} : { deleted_at: resource.deletedAt.toISOString() }),
    ...(resource.organizationId === null ? {} : { organization_id: resource.organizationId }),
  };
}

/** The ids by which answers name a resource. */
export function idsOf({
  kind,
  id,
  clusterId,
}: Pick<Resource, "kind" | "id" | "clusterId">): JsonObject {
  return kind === "nodepool" ? { nodepool_id: id, cluster_id: clusterId } : { cluster_id: id };
}

export function reportAnswer(
  resource: Pick<Resource, "kind" | "id" | "clusterId">,
  report: Report,
): JsonObject {
  const { controllerName, observedGeneration, conditions, metadata, lastError, updatedAt } = report;
  return {
    ...idsOf(resource),
    controller_name: controllerName,
    observed_generation: observedGeneration,
    conditions: conditions as unknown as Json,
    metadata,
    ...(lastError === null ? {} : { last_error: lastError as unknown as Json }),
    last_updated: updatedAt.toISOString(),
  };
}
