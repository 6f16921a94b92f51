// The built-in kinds as resources.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";
import {
  apiVersionOf,
  builtinRow,
  builtInPatches,
  type BuiltinKind,
  type BuiltinKinds,
  type BuiltinSubresource,
} from "@keelson/kube";

import { labelsOf, metadataOf } from "../object-metadata.ts";
import { builtinModel } from "./builtin-model.ts";
import { shapesOf } from "./builtin-shapes.ts";
import type { Resource, Storage, Subresource } from "./resource.ts";

/**
 * Every built-in kind that is served, in the order of discovery. Cheap: what a kind needs is compiled when its
 * first object comes.
 */
export function builtinResources(kinds: BuiltinKinds): Resource[] {
  return kinds.all.map((kind) => of(kinds, kind));
}

/** What needs a node: discovery does not promise it. */
const unservedSubresources: ReadonlySet<string> = new Set([
  "attach",
  "exec",
  "log",
  "portforward",
  "proxy",
]);

/** What a `Warning` says on each use of a version that goes. */
const deprecations: Readonly<Record<string, string>> = {
  "/v1/ComponentStatus": "v1 ComponentStatus is deprecated in v1.19+",
  "/v1/Endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  "coordination.k8s.io/v1beta1/LeaseCandidate":
    "coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+",
};

/** What a field selector may name although no object of the kind shows it while it is new. */
const moreFieldLabels: Readonly<Record<string, readonly string[]>> = {
  "batch/v1/Job": ["status.successful"],
};

/** The labels of an EndpointSlice say whose endpoints they are. */
function hasNewLabels(next: JsonObject, live: JsonObject): boolean {
  return !jsonEqual(labelsOf(next), labelsOf(live));
}

/** The annotations of a Deployment go to its ReplicaSets, so they count as its spec. */
function hasNewAnnotations(next: JsonObject, live: JsonObject): boolean {
  const of = (object: JsonObject): Json => metadataOf(object)["annotations"] ?? {};
  return !jsonEqual(of(next), of(live));
}

function of(kinds: BuiltinKinds, kind: BuiltinKind): Resource {
  const name = nameOf(kind);
  const shapes = shapesOf(kinds, kind);
  const { columns, fieldLabels, switches, type, verbs, storageVersionHash } = kind;
  return {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    plural: kind.plural,
    singular: kind.singular,
    listKind: kind.listKind,
    shortNames: kind.shortNames,
    categories: kind.categories,
    isNamespaced: kind.isNamespaced,
    verbs,
    storageVersionHash,
    subresources: kind.subresources
      .filter((one) => !unservedSubresources.has(one.name))
      .map(subresourceOf),
    isCustom: false,
    switches,
    fieldLabels: [...fieldLabels, ...(moreFieldLabels[name] ?? [])],
    ...(name === "discovery.k8s.io/v1/EndpointSlice" ? { raisesGeneration: hasNewLabels } : {}),
    ...(name === "apps/v1/Deployment"
      ? { raisesGeneration: hasNewAnnotations, statusWritesAnnotations: true }
      : {}),
    patchTypes: builtInPatches,
    deprecation: Object.hasOwn(deprecations, name) ? deprecations[name] : undefined,
    storage: shapes?.storage ?? storageOf(kind),
    shape: { from: "builtin", type },
    // The data has no prose, so columns have no descriptions.
    columns: columns.map((column) => ({ ...column, description: "" })),
    row: (object, nowMs) => builtinRow(kind, object, nowMs),
    model: builtinModel(kinds, kind, shapes),
  };
}

/** Reviews and bindings are answered and forgotten; component statuses are made up when somebody asks. */
function storageOf(kind: BuiltinKind): Storage | undefined {
  if (!kind.verbs.includes("create") || !kind.verbs.includes("get")) return undefined;
  const { group, kind: own } = kind;
  return { kind: group === "" ? own : `${own}.${group}`, apiVersion: apiVersionOf(kind) };
}

function subresourceOf({ name, group, version, kind, verbs }: BuiltinSubresource): Subresource {
  const subresource = { name, group, version, kind, verbs };
  if (name !== "scale") return subresource;
  return {
    ...subresource,
    scale: {
      specReplicasPath: "spec.replicas",
      statusReplicasPath: "status.replicas",
      labelSelectorPath: "spec.selector",
    },
  };
}

function nameOf({ group, version, kind }: BuiltinKind): string {
  return `${group}/${version}/${kind}`;
}
