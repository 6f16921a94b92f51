// Objects as tables: what `kubectl get` asks for.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { autoscalerAnnotations } from "../typed/convert/autoscaler.ts";
import { rollbackAnnotation, templateAnnotation } from "../typed/hub-form.ts";

/** A column of a table. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** Above 0: shown only by `-o wide`. */
  readonly priority: number;
}

/** A row before it is known how much of its object goes along. */
export interface TableRow {
  readonly cells: readonly Json[];
  readonly object: JsonObject;
  readonly conditions?: readonly Json[];
}

/** What a row carries of its object; `Metadata` unless told. */
export type IncludeObject = "None" | "Metadata" | "Object";

export interface TableOptions {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly TableRow[];
  /** Of a list: its own metadata. Of one object: its resourceVersion. */
  readonly metadata: JsonObject;
  readonly includeObject?: IncludeObject;
  /** Only the first table of a watch names its columns. */
  readonly hasHeaders?: boolean;
  readonly version?: "v1" | "v1beta1";
}

/** The document of a table. */
export function renderTable({
  columns,
  rows,
  metadata,
  includeObject = "Metadata",
  hasHeaders = true,
  version = "v1",
}: TableOptions): JsonObject {
  const apiVersion = `meta.k8s.io/${version}`;
  return {
    kind: "Table",
    apiVersion,
    metadata,
    columnDefinitions: hasHeaders ? columns.map(columnJson) : null,
    rows: rows.map(({ cells, object, conditions }) => ({
      cells,
      ...(conditions === undefined ? {} : { conditions }),
      object: shownObject(object, includeObject, apiVersion),
    })),
  };
}

function columnJson({ name, type, format, description, priority }: TableColumn): JsonObject {
  return { name, type, format, description, priority };
}

function shownObject(object: JsonObject, include: IncludeObject, apiVersion: string): Json {
  switch (include) {
    case "None":
      return null;
    case "Metadata":
      return { ...partialMetadata(object), apiVersion };
    case "Object":
      return object;
  }
}

/** An object without anything but its metadata. */
export function partialMetadata(object: JsonObject): JsonObject {
  const { metadata = {}, apiVersion, kind = "" } = object;
  const versioned = versionedAnnotations.get(kind);
  return {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata:
      versioned !== undefined && versioned.apiVersion === apiVersion
        ? withoutAnnotations(metadata, versioned.names)
        : metadata,
  };
}

/**
 * Annotations in which a version keeps what is a field of the server's own form: metadata is taken from that form,
 * so it has none of them.
 */
const versionedAnnotations = new Map<
  Json,
  { readonly apiVersion: string; readonly names: readonly string[] }
>([
  ["DaemonSet", { apiVersion: "apps/v1", names: [templateAnnotation] }],
  ["Deployment", { apiVersion: "apps/v1", names: [rollbackAnnotation] }],
  [
    "HorizontalPodAutoscaler",
    { apiVersion: "autoscaling/v1", names: Object.values(autoscalerAnnotations) },
  ],
]);

function withoutAnnotations(metadata: Json, names: readonly string[]): Json {
  if (!isJsonObject(metadata)) return metadata;
  const { annotations, ...rest } = metadata;
  if (!isJsonObject(annotations)) return metadata;
  const kept = Object.entries(annotations).filter(([name]) => !names.includes(name));
  return kept.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(kept) };
}

/** A list without anything but the metadata of its items. */
export function partialMetadataList(list: JsonObject): JsonObject {
  const { metadata = {}, items } = list;
  const objects = Array.isArray(items) ? (items as Json[]).filter(isJsonObject) : [];
  return {
    kind: "PartialObjectMetadataList",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    items: objects.map(partialMetadata),
  };
}
