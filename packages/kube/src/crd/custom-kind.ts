// A custom kind at one of its versions, read from its definition.

import type { JsonObject } from "@keelson/base";

import {
  flagOf,
  has,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../object/members.ts";
import { readSchema } from "../schema/read-schema.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { defaultPrinterColumns, type PrinterColumn } from "../table/custom-columns.ts";
import { compareVersions } from "./versions.ts";

/** What a definition says of its kind at one version. */
export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly isServed: boolean;
  /** Whether objects are stored in this version. */
  readonly isStorage: boolean;
  /** Undefined where the definition has none: nothing is then checked. */
  readonly schema: StructuralSchema | undefined;
  /** Whether fields outside the schema are kept, as definitions of old could ask. */
  readonly preservesUnknownFields: boolean;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly columns: readonly PrinterColumn[];
  /** What a field selector may name besides name and namespace: `spec.size`. */
  readonly selectableFields: readonly string[];
  /** What clients of a deprecated version are told. */
  readonly deprecationWarning: string | undefined;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string | undefined;
}

/**
 * The kind of a definition at a version; undefined if it has no such version. Names are those that were accepted;
 * before that, those that are asked for.
 */
export function kindOfDefinition(definition: JsonObject, version: string): CustomKind | undefined {
  const spec = objectOf(definition, "spec");
  const found = objectsOf(spec, "versions").find((one) => textOf(one, "name") === version);
  if (found === undefined) return undefined;
  const accepted = objectOf(objectOf(definition, "status"), "acceptedNames");
  const names = textOf(accepted, "plural") === "" ? objectOf(spec, "names") : accepted;
  const written = maybeObject(objectOf(found, "schema"), "openAPIV3Schema");
  const scale = maybeObject(objectOf(found, "subresources"), "scale");
  return {
    group: textOf(spec, "group"),
    version,
    kind: textOf(names, "kind"),
    listKind: textOf(names, "listKind"),
    plural: textOf(names, "plural"),
    singular: textOf(names, "singular"),
    shortNames: textsOf(names, "shortNames"),
    categories: textsOf(names, "categories"),
    isNamespaced: textOf(spec, "scope") === "Namespaced",
    isServed: flagOf(found, "served"),
    isStorage: flagOf(found, "storage"),
    schema: written && readSchema(written),
    preservesUnknownFields: flagOf(spec, "preserveUnknownFields"),
    hasStatus: has(objectOf(found, "subresources"), "status"),
    scale: scale === undefined ? undefined : scalePaths(scale),
    columns: columnsOf(found),
    selectableFields: objectsOf(found, "selectableFields").map((field) =>
      textOf(field, "jsonPath").replace(/^\./, ""),
    ),
    deprecationWarning: flagOf(found, "deprecated")
      ? deprecationText(definition, found)
      : undefined,
  };
}

/** The kind at each of its versions that is served, the best first. */
export function servedKinds(definition: JsonObject): readonly CustomKind[] {
  return objectsOf(objectOf(definition, "spec"), "versions")
    .filter((version) => flagOf(version, "served"))
    .map((version) => textOf(version, "name"))
    .toSorted((a, b) => compareVersions(b, a))
    .flatMap((version) => kindOfDefinition(definition, version) ?? []);
}

/** The version in which objects are stored. */
export function storageVersionOf(definition: JsonObject): string | undefined {
  const versions = objectsOf(objectOf(definition, "spec"), "versions");
  const found = versions.find((version) => flagOf(version, "storage"));
  return found === undefined ? undefined : textOf(found, "name");
}

/** The object as an object of another version, where conversion is None: only its `apiVersion` differs. */
export function convertByName(
  object: JsonObject,
  { group, version }: { readonly group: string; readonly version: string },
): JsonObject {
  const apiVersion = `${group}/${version}`;
  return object["apiVersion"] === apiVersion ? object : { ...object, apiVersion };
}

function scalePaths(scale: JsonObject): ScalePaths {
  const selector = textOf(scale, "labelSelectorPath");
  return {
    specReplicasPath: textOf(scale, "specReplicasPath"),
    statusReplicasPath: textOf(scale, "statusReplicasPath"),
    labelSelectorPath: selector === "" ? undefined : selector,
  };
}

function columnsOf(version: JsonObject): readonly PrinterColumn[] {
  const columns = objectsOf(version, "additionalPrinterColumns");
  if (columns.length === 0) return defaultPrinterColumns;
  return columns.map((column) => {
    return {
      name: textOf(column, "name"),
      type: textOf(column, "type"),
      jsonPath: textOf(column, "jsonPath"),
      format: textOf(column, "format"),
      description: textOf(column, "description"),
      priority: numberOf(column, "priority"),
    };
  });
}

function deprecationText(definition: JsonObject, version: JsonObject): string {
  const own = maybeText(version, "deprecationWarning");
  if (own !== undefined) return own;
  const spec = objectOf(definition, "spec");
  const group = textOf(spec, "group");
  const kind = textOf(objectOf(spec, "names"), "kind");
  const name = textOf(version, "name");
  const [best] = objectsOf(spec, "versions")
    .filter((one) => flagOf(one, "served") && !flagOf(one, "deprecated"))
    .map((one) => textOf(one, "name"))
    .filter((other) => compareVersions(name, other) < 0)
    .sort((a, b) => compareVersions(b, a));
  const use = best === undefined ? "" : `; use ${group}/${best} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${use}`;
}
