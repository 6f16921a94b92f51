// Rows of targets: what they mean to a writer, and what REST shows of them.

import {
  allowsCluster,
  jsonEqual,
  readJson,
  RestError,
  type Identity,
  type JsonObject,
} from "@keelson/base";
import type { HeldTargetRow, TargetRow, TargetState } from "../sql/targets.ts";

export function stateOf(row: HeldTargetRow): TargetState {
  return {
    clusterId: row.cluster_id,
    credential: row.credential,
    inProcess: row.in_process,
    agent: row.agent,
    server: row.server,
    labels: labelsOf(row),
    paused: row.paused,
  };
}

export function isSameState(one: TargetState, other: TargetState): boolean {
  const { credential: a, labels: labelsA, ...restA } = one;
  const { credential: b, labels: labelsB, ...restB } = other;
  return isSameBytes(a, b) && jsonEqual(labelsA, labelsB) && jsonEqual(restA, restB);
}

export function isReachedAlike(one: HeldTargetRow, other: HeldTargetRow): boolean {
  return (
    one.is_deleting === other.is_deleting &&
    one.agent === other.agent &&
    isSameBytes(one.credential, other.credential)
  );
}

/** Whether other labels are wanted than it has. */
export function isRelabelled(row: TargetRow, labels: JsonObject | undefined): boolean {
  return labels !== undefined && !jsonEqual(labels, labelsOf(row));
}

function isSameBytes(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return Buffer.from(one).equals(other);
}

export function visibleTarget<Row extends TargetRow>(
  identity: Identity,
  row: Row | undefined,
): Row {
  if (row !== undefined && allowsCluster(identity, row.cluster_id)) return row;
  throw new RestError("RESOURCE_NOT_FOUND", "no such target");
}

export function inUse(clusterId: string, resources: number): RestError {
  const some = resources === 1 ? "a resource: delete it" : `${resources} resources: delete them`;
  const message = `target ${clusterId} has ${some} first, or forget it all with ?orphan=true`;
  return new RestError("TARGET_IN_USE", message, { details: { resources } });
}

/** Of one that leaves. Its copies go whatever its labels are, and how it is reached decides whether they can. */
export function keepsLabels(clusterId: string): RestError {
  const message =
    `target ${clusterId} is being deleted and keeps its labels: until it is gone only paused, kubeconfig, context and ` +
    "agent can change; ?orphan=true forgets it all at once";
  return new RestError("RESOURCE_DELETING", message);
}

function labelsOf({ labels }: TargetRow): JsonObject {
  return readJson(labels) as JsonObject; // A check of the table keeps it an object.
}

export function shownTarget(row: TargetRow): JsonObject {
  return {
    cluster_id: row.cluster_id,
    server: row.server,
    labels: labelsOf(row),
    paused: row.paused,
    health: row.health,
    health_message: row.health_message,
    last_contact_at: row.last_contact_at,
    agent: row.agent,
    deleting: row.is_deleting,
  };
}

/** Opaque to clients: what is in it may change. */
export function cursorAfter(clusterId: string): string {
  return Buffer.from(`id:${clusterId}`).toString("base64url");
}
