// A custom kind at one of its versions, read from its definition.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { at, flag, has, objects, text, texts } from "../kinds/rules/meta/reading.ts";
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
  const versions = objects(definition, "spec", "versions");
  const found = versions.find((one) => text(one, "name") === version);
  if (found === undefined) return undefined;
  const accepted = at(definition, "status", "acceptedNames");
  const names = text(accepted, "plural") === "" ? at(definition, "spec", "names") : accepted;
  const written = at(found, "schema", "openAPIV3Schema");
  const scale = at(found, "subresources", "scale");
  return {
    group: text(definition, "spec", "group"),
    version,
    kind: text(names, "kind"),
    listKind: text(names, "listKind"),
    plural: text(names, "plural"),
    singular: text(names, "singular"),
    shortNames: texts(names, "shortNames"),
    categories: texts(names, "categories"),
    isNamespaced: text(definition, "spec", "scope") === "Namespaced",
    isServed: flag(found, "served"),
    isStorage: flag(found, "storage"),
    schema: written !== undefined && isJsonObject(written) ? readSchema(written) : undefined,
    preservesUnknownFields: flag(definition, "spec", "preserveUnknownFields"),
    hasStatus: has(found, "subresources", "status"),
    scale: scale === undefined ? undefined : scalePaths(scale),
    columns: columnsOf(found),
    selectableFields: objects(found, "selectableFields").map((field) =>
      text(field, "jsonPath").replace(/^\./, ""),
    ),
    deprecationWarning: flag(found, "deprecated") ? deprecationText(definition, found) : undefined,
  };
}

/** The kind at each of its versions that is served, the best first. */
export function servedKinds(definition: JsonObject): readonly CustomKind[] {
  return objects(definition, "spec", "versions")
    .filter((version) => flag(version, "served"))
    .map((version) => text(version, "name"))
    .toSorted((a, b) => compareVersions(b, a))
    .flatMap((version) => kindOfDefinition(definition, version) ?? []);
}

/** The version in which objects are stored. */
export function storageVersionOf(definition: JsonObject): string | undefined {
  const versions = objects(definition, "spec", "versions");
  const found = versions.find((version) => flag(version, "storage"));
  return found === undefined ? undefined : text(found, "name");
}

/** The object as an object of another version, where conversion is None: only its `apiVersion` differs. */
export function convertByName(
  object: JsonObject,
  { group, version }: { readonly group: string; readonly version: string },
): JsonObject {
  const apiVersion = `${group}/${version}`;
  return object["apiVersion"] === apiVersion ? object : { ...object, apiVersion };
}

function scalePaths(scale: Json): ScalePaths {
  const selector = text(scale, "labelSelectorPath");
  return {
    specReplicasPath: text(scale, "specReplicasPath"),
    statusReplicasPath: text(scale, "statusReplicasPath"),
    labelSelectorPath: selector === "" ? undefined : selector,
  };
}

function columnsOf(version: JsonObject): readonly PrinterColumn[] {
  const columns = objects(version, "additionalPrinterColumns");
  if (columns.length === 0) return defaultPrinterColumns;
  return columns.map((column) => {
    const priority = at(column, "priority");
    return {
      name: text(column, "name"),
      type: text(column, "type"),
      jsonPath: text(column, "jsonPath"),
      format: text(column, "format"),
      description: text(column, "description"),
      priority: typeof priority === "number" ? priority : 0,
    };
  });
}

function deprecationText(definition: JsonObject, version: JsonObject): string {
  const own = at(version, "deprecationWarning");
  if (typeof own === "string") return own;
  const group = text(definition, "spec", "group");
  const kind = text(definition, "spec", "names", "kind");
  const name = text(version, "name");
  const [best] = objects(definition, "spec", "versions")
    .filter((one) => flag(one, "served") && !flag(one, "deprecated"))
    .map((one) => text(one, "name"))
    .filter((other) => compareVersions(name, other) < 0)
    .sort((a, b) => compareVersions(b, a));
  const use = best === undefined ? "" : `; use ${group}/${best} ${kind}`;
  return `${group}/${name} ${kind} is deprecated${use}`;
}
