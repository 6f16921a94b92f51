// How the server says of itself that it serves a version: an APIService without a service behind it.

import type { JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import { labelsOf } from "../object-metadata.ts";
import type { Registry } from "../resources/registry.ts";

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
}

/** Says that the server sees to an APIService by itself: from its start on, or for as long as a definition is there. */
const managed = "kube-aggregator.kubernetes.io/automanaged";

/** What comes first in discovery, by group: as the real server has it. */
const groupPriorities: Readonly<Record<string, number>> = {
  "": 18_000,
  apps: 17_800,
  "events.k8s.io": 17_750,
  "authentication.k8s.io": 17_700,
  "authorization.k8s.io": 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  "certificates.k8s.io": 17_300,
  "networking.k8s.io": 17_200,
  policy: 17_100,
  "rbac.authorization.k8s.io": 17_000,
  "storage.k8s.io": 16_800,
  "apiextensions.k8s.io": 16_700,
  "admissionregistration.k8s.io": 16_700,
  "scheduling.k8s.io": 16_600,
  "coordination.k8s.io": 16_500,
  "node.k8s.io": 16_300,
  "discovery.k8s.io": 16_200,
  "resource.k8s.io": 16_200,
  "flowcontrol.apiserver.k8s.io": 16_100,
  "internal.apiserver.k8s.io": 16_000,
  "storagemigration.k8s.io": 15_800,
};

/** And by version, where it is not 15 for `v1` and 9 for what is not stable. */
const versionPriorities: Readonly<Record<string, number>> = {
  "/v1": 1,
  "autoscaling/v2": 30,
  "flowcontrol.apiserver.k8s.io/v1": 21,
  "resource.k8s.io/v1": 21,
  "coordination.k8s.io/v1beta1": 13,
};

/** Of kinds that are defined, by whomever. */
const customPriorities = { groupPriorityMinimum: 1_000, versionPriority: 100 } as const;

/** The group of APIServices itself, which has none. */
const ownGroup = "apiregistration.k8s.io";

export function apiServiceName({ group, version }: GroupVersion): string {
  return `${version}.${group}`;
}

/** The APIServices of what is served, by their names. */
export function localApiServices({ served }: Registry): ReadonlyMap<string, JsonObject> {
  const versions = Map.groupBy(served.all, apiServiceName);
  return new Map(
    [...versions].flatMap(([name, resources]) => {
      const [first] = resources;
      if (first === undefined || first.group === ownGroup) return [];
      const isCustom = resources.every((resource) => resource.isCustom);
      return [[name, localApiService(first, isCustom)]];
    }),
  );
}

/** Whether the server has made an APIService by itself. */
export function isManaged(apiService: JsonObject): boolean {
  return memberOf(labelsOf(apiService), managed) !== undefined;
}

function localApiService({ group, version }: GroupVersion, isCustom: boolean): JsonObject {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: {
      name: apiServiceName({ group, version }),
      labels: { [managed]: isCustom ? "true" : "onstart" },
    },
    spec: {
      ...(group === "" ? {} : { group }),
      version,
      ...(isCustom ? customPriorities : prioritiesOf({ group, version })),
    },
  };
}

function prioritiesOf({ group, version }: GroupVersion): JsonObject {
  const groupPriorityMinimum = groupPriorities[group];
  if (groupPriorityMinimum === undefined) return customPriorities;
  const usual = version === "v1" ? 15 : 9;
  const versionPriority = versionPriorities[`${group}/${version}`] ?? usual;
  return { groupPriorityMinimum, versionPriority };
}
