/**
 * Who sends a request, as the one identity layer found out. The rules of every REST service read this and
 * nothing else of the request's credentials.
 */
export interface Identity {
  /** The e-mail address: exactly one `@`, both halves not empty, a dot in the domain. */
  readonly user: string;
  /** The part of `user` after the `@`. */
  readonly domain: string;
  /** Roles given from outside. `controller` has the powers of a cluster controller. */
  readonly roles: readonly string[];
  /** The organization that the caller belongs to, where one was given. */
  readonly organizationId?: string;
  /** What the caller may do in fleet; `undefined` is nothing at all. */
  readonly fleetRole: FleetRole | undefined;
  /** The clusters that the caller may see and change in fleet. They limit nothing but fleet. */
  readonly clusters: AllowedClusters;
  /** True where the credential itself may write nowhere, whatever the roles: a token of a reader. */
  readonly readOnly: boolean;
}

/** What somebody may do in fleet: read; also write resources; also targets and globals. */
export type FleetRole = "reader" | "editor" | "admin";

/** Every cluster, also those to come, or those with these ids. */
export type AllowedClusters = "all" | ReadonlySet<string>;

/** Whether fleet may show or change anything of this cluster for the caller. */
export function allowsCluster({ clusters }: Identity, clusterId: string): boolean {
  return clusters === "all" || clusters.has(clusterId);
}

/** Whether two identities are of the same caller, who may do the same. */
export function isSameIdentity(one: Identity, other: Identity): boolean {
  return (
    one.user === other.user &&
    one.organizationId === other.organizationId &&
    one.fleetRole === other.fleetRole &&
    one.readOnly === other.readOnly &&
    isSameSet(new Set(one.roles), new Set(other.roles)) &&
    (one.clusters === "all" || other.clusters === "all"
      ? one.clusters === other.clusters
      : isSameSet(one.clusters, other.clusters))
  );
}

/** Whether the caller's role in fleet is `needed` or a stronger one. */
export function hasFleetRole({ fleetRole }: Identity, needed: FleetRole): boolean {
  return fleetRole !== undefined && strength[fleetRole] >= strength[needed];
}

/** The strongest of `fleet:reader`, `fleet:editor` and `fleet:admin` among the roles, if there is one. */
export function fleetRoleFrom(roles: readonly string[]): FleetRole | undefined {
  return (["admin", "editor", "reader"] as const).find((role) => roles.includes(`fleet:${role}`));
}

const strength: Record<FleetRole, number> = { reader: 1, editor: 2, admin: 3 };

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other);
}
