// Discovery as one document for everything.

import type { Resource, Subresource } from "../resources/resource.ts";
import type { ApiGroup, ApiVersion } from "./api-groups.ts";

/** The shape that clients ask for, as `Accept` and `Content-Type` name it. */
export const aggregatedShape = {
  group: "apidiscovery.k8s.io",
  version: "v2",
  kind: "APIGroupDiscoveryList",
} as const;

/** The body of `/api` or `/apis` in that shape. */
export function apiGroupDiscoveryList(groups: readonly ApiGroup[]): object {
  return {
    kind: aggregatedShape.kind,
    apiVersion: `${aggregatedShape.group}/${aggregatedShape.version}`,
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map(versionBody),
    })),
  };
}

function versionBody({ version, resources, isStale }: ApiVersion): object {
  if (isStale === true) return { version, freshness: "Stale" };
  return { version, resources: resources.map(resourceBody), freshness: "Current" };
}

function resourceBody(resource: Resource): object {
  const { plural, singular, isNamespaced, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: plural,
    responseKind: responseKind(resource, resource),
    scope: isNamespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((subresource) => ({
            subresource: subresource.name,
            responseKind: responseKind(resource, subresource),
            verbs: subresource.verbs,
          })),
        }),
  };
}

/** Built-in resources leave out the group and version that are their own. */
function responseKind(
  resource: Resource,
  { group, version, kind }: Resource | Subresource,
): object {
  const isOwn = group === resource.group && version === resource.version;
  return !resource.isCustom && isOwn ? { group: "", version: "", kind } : { group, version, kind };
}
