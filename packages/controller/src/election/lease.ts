// What a Lease says, and what may be done about it. Pure: time is the reader's own, and only its passing counts. The
// times in a Lease are other people's clocks.

import type { KubeObject } from "@keelson/client";

/** `coordination.k8s.io/v1` `Lease`. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const leaseKind = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" } as const;

/** A state of the Lease, and since when we have known of it, by our monotonic clock. */
export interface Sighting {
  readonly lease: Lease;
  readonly sinceMs: number;
}

/** What we know after looking: a state that has not changed is as old as when it was first seen. */
export function look(before: Sighting | undefined, lease: Lease, nowMs: number): Sighting {
  const isSame =
    before !== undefined &&
    before.lease.metadata.uid === lease.metadata.uid &&
    before.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
  return { lease, sinceMs: isSame ? before.sinceMs : nowMs };
}

/** Whether the lease may be taken: nobody holds it, we do, or its holder has not been heard of for its duration. */
export function mayTake({ lease, sinceMs }: Sighting, identity: string, nowMs: number): boolean {
  const { holderIdentity = "", leaseDurationSeconds = 0 } = lease.spec ?? {};
  if (holderIdentity === "" || holderIdentity === identity) return true;
  return nowMs - sinceMs >= leaseDurationSeconds * 1000;
}

export interface LeaseParts {
  readonly identity: string;
  readonly durationMs: number;
  /** A MicroTime, for people who look. */
  readonly time: string;
}

/** The Lease as its new holder writes it. */
export function taken(lease: Lease, { identity, durationMs, time }: LeaseParts): Lease {
  const { leaseTransitions = 0 } = lease.spec ?? {};
  return {
    ...lease,
    spec: {
      ...lease.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: time,
      renewTime: time,
      leaseTransitions: leaseTransitions + 1,
    },
  };
}

/** The Lease as its holder keeps it. */
export function renewed(lease: Lease, { time }: Pick<LeaseParts, "time">): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: time } };
}

/** The Lease as its holder leaves it: whoever looks next may have it. */
export function released(lease: Lease, { time }: Pick<LeaseParts, "time">): Lease {
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: time },
  };
}
