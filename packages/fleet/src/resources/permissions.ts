// Who may see and change what.

import {
  allowsCluster,
  hasFleetRole,
  RestError,
  type FleetRole,
  type Identity,
} from "@keelson/base";

/** Throws `FORBIDDEN` unless the caller has the role. */
export function requireRole(identity: Identity, role: FleetRole): void {
  const isWriting = role !== "reader";
  if (isWriting && identity.readOnly) {
    throw new RestError("FORBIDDEN", "this credential may only read");
  }
  if (!hasFleetRole(identity, role)) {
    throw new RestError("FORBIDDEN", `the role ${role} is needed, or a stronger one`);
  }
}

/** Throws `FORBIDDEN` for a write that names a cluster which is not the caller's. */
export function requireCluster(identity: Identity, clusterId: string): void {
  if (!allowsCluster(identity, clusterId)) {
    throw new RestError("FORBIDDEN", `cluster ${clusterId} is not among yours`);
  }
}

/** What the caller may not see is not there. */
export function visible<T extends { readonly clusterId: string }>(
  identity: Identity,
  found: T | undefined,
): T {
  if (found === undefined || !allowsCluster(identity, found.clusterId)) throw noSuchResource();
  return found;
}

export function noSuchResource(): RestError {
  return new RestError("RESOURCE_NOT_FOUND", "no such resource");
}
