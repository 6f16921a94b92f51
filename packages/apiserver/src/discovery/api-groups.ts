// What is served, sorted as discovery shows it.

import { compareVersions } from "@keelson/kube";

import type { GroupVersion } from "../apiservices/local-api-service.ts";
import type { Resource } from "../resources/resource.ts";

export interface ApiGroup {
  /** Empty for the core group. */
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly ApiVersion[];
}

export interface ApiVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly Resource[];
  /** Whether it is promised and nobody serves it. */
  readonly isStale?: boolean;
}

/**
 * The groups, the most important first: built-in ones in the order in which they come, as the real server's
 * priorities have it, then all others by name. Custom versions of a group stand before built-in ones, and those that nobody
 * serves with them.
 */
export function apiGroups(
  resources: readonly Resource[],
  unserved: readonly GroupVersion[] = [],
): ApiGroup[] {
  const groups = Map.groupBy(resources, ({ group }) => group);
  for (const { group } of unserved) if (!groups.has(group)) groups.set(group, []);
  const isBuiltin = (members: readonly Resource[]): boolean =>
    members.some(({ isCustom }) => !isCustom);
  const builtin = [...groups].filter(([, members]) => isBuiltin(members));
  const custom = [...groups].filter(([, members]) => !isBuiltin(members));
  custom.sort(([a], [b]) => compareNames(a, b));
  return [...builtin, ...custom].map(([name, members]) => ({
    name,
    versions: versionsOf(
      name,
      members,
      unserved.filter(({ group }) => group === name),
    ),
  }));
}

function versionsOf(
  group: string,
  members: readonly Resource[],
  unserved: readonly GroupVersion[],
): ApiVersion[] {
  const served = Map.groupBy(members, ({ version }) => version);
  const stale = new Set(unserved.map(({ version }) => version));
  const versions: [string, readonly Resource[]][] = [
    ...served,
    ...[...stale].map((version): [string, readonly Resource[]] => [version, []]),
  ];
  const rank = (resources: readonly Resource[]): number =>
    resources.every(({ isCustom }) => isCustom) ? 0 : 1;
  versions.sort(([a, ofA], [b, ofB]) => rank(ofA) - rank(ofB) || compareVersions(b, a));
  return versions.map(([version, resources]) => ({
    group,
    version,
    resources: resources.toSorted((a, b) => rank([b]) - rank([a]) || byPlural(a, b)),
    ...(stale.has(version) ? { isStale: true } : {}),
  }));
}

/** Built-in resources come sorted already, in an order of their own. */
function byPlural(a: Resource, b: Resource): number {
  return a.isCustom && b.isCustom ? compareNames(a.plural, b.plural) : 0;
}

/** By alphabet. Names of groups and resources are ASCII. */
function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
