// Custom kinds as resources, from their definitions.

import { createHash } from "node:crypto";

import { isJsonArray, isJsonObject, type JsonObject } from "@keelson/base";
import {
  CustomColumns,
  customPatches,
  isDefinitionConditionTrue,
  kindOfDefinition,
  memberOf,
  servedKinds,
  storageVersionOf,
  usualSwitches,
  type CustomKind,
} from "@keelson/kube";

import { customModel } from "./custom-model.ts";
import type { Resource, Subresource } from "./resource.ts";

/**
 * The resources of a CustomResourceDefinition that has been defaulted: one for each version that is served, the
 * preferred first. Keep them for as long as the definition does not change: schemas and rules are compiled once.
 */
export function customResources(definition: JsonObject): Resource[] {
  const storageVersion = storageVersionOf(definition) ?? "";
  const kinds = allKinds(definition);
  const served = new Set(servedKinds(definition).map(({ version }) => version));
  const isTerminating = isDefinitionConditionTrue(definition, "Terminating");
  const resources = servedKinds(definition).flatMap(({ version }): Resource[] => {
    const kind = kinds.get(version);
    if (kind === undefined) return [];
    const { group, columns: declared } = kind;
    const columns = new CustomColumns(declared);
    const storage = { kind: `${kind.kind}.${group}`, apiVersion: `${group}/${storageVersion}` };
    const resource: Resource = {
      group,
      version,
      kind: kind.kind,
      plural: kind.plural,
      singular: kind.singular,
      listKind: kind.listKind,
      shortNames: kind.shortNames,
      categories: kind.categories,
      isNamespaced: kind.isNamespaced,
      verbs: verbs.usual,
      storageVersionHash: served.has(storageVersion)
        ? storageHash(group, storageVersion, kind.kind)
        : undefined,
      subresources: subresourcesOf(kind),
      isCustom: true,
      // Without an endpoint of its own the status is a field like any other.
      switches: { ...usualSwitches, keepsStatusOnCreate: !kind.hasStatus },
      fieldLabels: kind.selectableFields,
      patchTypes: customPatches,
      deprecation: kind.deprecationWarning,
      storage,
      shape: { from: "schema", schema: kind.schema },
      columns: columns.columns,
      row: (object, nowMs) => columns.row(object, nowMs),
      model: customModel(kind, {
        versions: kinds,
        readsAsStored: version === storageVersion && isAsWritten(definition),
      }),
    };
    return [resource];
  });
  return isTerminating ? resources.map(closing) : resources;
}

/** The same resource while its definition is being deleted. */
export function closing(resource: Resource): Resource {
  return { ...resource, verbs: verbs.terminating, isClosing: true };
}

/** The resources of definitions that are part of the program. Make them once: schemas are compiled for each. */
export function declaredResources(definitions: readonly JsonObject[]): Resource[] {
  return definitions.flatMap((definition) => {
    const metadata = memberOf(definition, "metadata") as JsonObject;
    // They never change while they are served, as generation 1 says.
    return customResources({ ...definition, metadata: { ...metadata, generation: 1 } });
  });
}

/** In this order, as the real server lists them. */
const verbs = {
  usual: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
  terminating: ["delete", "deletecollection", "get", "list", "watch"],
} as const;

/** Every version, served or not: managed fields may speak of any. */
function allKinds(definition: JsonObject): ReadonlyMap<string, CustomKind> {
  const spec = memberOf(definition, "spec");
  const versions = isJsonObject(spec) ? memberOf(spec, "versions") : undefined;
  const kinds = new Map<string, CustomKind>();
  for (const version of isJsonArray(versions) ? versions : []) {
    const name = isJsonObject(version) ? memberOf(version, "name") : undefined;
    const kind = typeof name === "string" ? kindOfDefinition(definition, name) : undefined;
    if (kind !== undefined) kinds.set(kind.version, kind);
  }
  return kinds;
}

/**
 * Whether every object was stored under the schema of now: the definition has never changed. Otherwise an older
 * object may lack a default or have a field too many.
 */
function isAsWritten({ metadata }: JsonObject): boolean {
  return isJsonObject(metadata) && memberOf(metadata, "generation") === 1;
}

function subresourcesOf({ group, version, kind, hasStatus, scale }: CustomKind): Subresource[] {
  const subresources: Subresource[] = [];
  const common = { verbs: ["get", "patch", "update"] };
  if (hasStatus) subresources.push({ ...common, name: "status", group, version, kind });
  if (scale !== undefined) {
    const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
    subresources.push({
      ...common,
      name: "scale",
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      scale: {
        specReplicasPath: withoutDot(specReplicasPath),
        statusReplicasPath: withoutDot(statusReplicasPath),
        labelSelectorPath: labelSelectorPath && withoutDot(labelSelectorPath),
      },
    });
  }
  return subresources;
}

function withoutDot(path: string): string {
  return path.replace(/^\./, "");
}

/** What tells clients that objects moved to another storage version. */
function storageHash(group: string, version: string, kind: string): string {
  const digest = createHash("sha256").update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString("base64");
}
