// Which kinds the oracle serves, from its aggregated discovery.

import type { Oracle } from "../cluster.ts";

export interface DiscoveredKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly storageVersionHash: string | undefined;
  readonly subresources: readonly DiscoveredSubresource[];
}

export interface DiscoveredSubresource {
  readonly name: string;
  readonly kind: GroupVersionKind;
  readonly verbs: readonly string[];
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Every kind, in the order of discovery: groups by priority, versions by preference. */
export async function discoverKinds(
  oracle: Oracle,
  signal: AbortSignal,
): Promise<DiscoveredKind[]> {
  const hashes = await storageVersionHashes(oracle, signal);
  const documents = await Promise.all(
    ["/api", "/apis"].map(async (path) => {
      const { body } = await oracle.client.send({ path, headers: { accept } }, signal);
      return body as GroupDiscoveryList;
    }),
  );
  return documents
    .flatMap(({ items }) => items)
    .flatMap(({ metadata, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.map((resource) => {
          const group = metadata.name ?? "";
          const own = { group, version };
          return {
            ...own,
            kind: resource.responseKind.kind,
            plural: resource.resource,
            singular: resource.singularResource,
            shortNames: resource.shortNames ?? [],
            categories: resource.categories ?? [],
            namespaced: resource.scope === "Namespaced",
            verbs: resource.verbs,
            storageVersionHash: hashes.get(`${group}/${version}/${resource.resource}`),
            subresources: (resource.subresources ?? []).map((subresource) => ({
              name: subresource.subresource,
              kind: completeKind(subresource.responseKind, own),
              verbs: subresource.verbs,
            })),
          };
        }),
      ),
    );
}

/** What aggregated discovery leaves out: it is in the documents of each version. */
async function storageVersionHashes(
  oracle: Oracle,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const { body } = await oracle.client.send({ path: "/apis" }, signal);
  const { groups } = body as { groups: { versions: { groupVersion: string }[] }[] };
  const paths = groups.flatMap(({ versions }) =>
    versions.map((one) => `/apis/${one.groupVersion}`),
  );
  const hashes = new Map<string, string>();
  for (const path of ["/api/v1", ...paths]) {
    const { body } = await oracle.client.send({ path }, signal);
    const { groupVersion, resources } = body as ResourceList;
    const prefix = groupVersion.includes("/") ? groupVersion : `/${groupVersion}`;
    for (const { name, storageVersionHash } of resources) {
      if (storageVersionHash !== undefined) hashes.set(`${prefix}/${name}`, storageVersionHash);
    }
  }
  return hashes;
}

function completeKind(
  kind: Partial<GroupVersionKind>,
  own: { readonly group: string; readonly version: string },
): GroupVersionKind {
  // An empty group together with an empty version means that of the resource.
  const { group = "", version = "", kind: name = "" } = kind;
  return version === "" ? { ...own, kind: name } : { group, version, kind: name };
}

interface GroupDiscoveryList {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources: readonly {
        readonly resource: string;
        readonly responseKind: { readonly kind: string };
        readonly scope: "Namespaced" | "Cluster";
        readonly singularResource: string;
        readonly shortNames?: readonly string[];
        readonly categories?: readonly string[];
        readonly verbs: readonly string[];
        readonly subresources?: readonly {
          readonly subresource: string;
          readonly responseKind: Partial<GroupVersionKind>;
          readonly verbs: readonly string[];
        }[];
      }[];
    }[];
  }[];
}

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly { readonly name: string; readonly storageVersionHash?: string }[];
}
