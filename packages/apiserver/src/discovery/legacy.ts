// Discovery as one document for each group and version.

import type { Resource, Subresource } from "../resources/resource.ts";
import type { ApiGroup, ApiVersion } from "./api-groups.ts";

/** The body of `/api`. */
export function apiVersions(core: ApiGroup, serverAddress: string): object {
  return {
    kind: "APIVersions",
    versions: core.versions.map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

/** The body of `/apis`: every group but the core one. */
export function apiGroupList(groups: readonly ApiGroup[]): object {
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupBody) };
}

/** The body of `/apis/<group>`. */
export function apiGroup(group: ApiGroup): object {
  return { kind: "APIGroup", apiVersion: "v1", ...groupBody(group) };
}

/** The body of `/apis/<group>/<version>` and `/api/v1`. */
export function apiResourceList({ group, version, resources }: ApiVersion): object {
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: resources.flatMap((resource) => [
      resourceBody(resource),
      ...resource.subresources.map((subresource) => subresourceBody(resource, subresource)),
    ]),
  };
}

function groupBody({ name, versions }: ApiGroup): object {
  const bodies = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: bodies, preferredVersion: bodies[0] };
}

function resourceBody(resource: Resource): object {
  const { plural, singular, isNamespaced, kind, verbs, shortNames, categories } = resource;
  return {
    name: plural,
    singularName: singular,
    namespaced: isNamespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(resource.storageVersionHash === undefined
      ? {}
      : { storageVersionHash: resource.storageVersionHash }),
  };
}

function subresourceBody(resource: Resource, { name, verbs, ...body }: Subresource): object {
  const isOwn = body.group === resource.group && body.version === resource.version;
  return {
    name: `${resource.plural}/${name}`,
    singularName: "",
    namespaced: resource.isNamespaced,
    ...(isOwn ? {} : { group: body.group, version: body.version }),
    kind: body.kind,
    verbs,
  };
}
