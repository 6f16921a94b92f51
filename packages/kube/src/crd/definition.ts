// Kinds that are declared in code, as CustomResourceDefinitions.

import { cloneJson, type Json, type JsonObject } from "@keelson/base";

import type { ValidationRule } from "../schema/structural.ts";
import { defaultPrinterColumns, type PrinterColumn } from "../table/custom-columns.ts";

/** A kind of ours, before it is a definition. Schemas are JSON schemas as a definition has them. */
export interface DeclaredKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly isNamespaced: boolean;
  readonly description: string;
  readonly spec: object;
  readonly status: object;
  /** `Age` comes after them. */
  readonly columns: readonly PrinterColumn[];
  /** What a field selector may name: `spec.type`. */
  readonly selectableFields: readonly string[];
  /** What must hold of the whole object, its name among it. */
  readonly rules?: readonly ValidationRule[];
}

/** Complete: a server defaults nothing. */
export function definitionOf(kind: DeclaredKind): JsonObject {
  const { group, version, plural, shortNames, isNamespaced, columns, selectableFields } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: isNamespaced ? "Namespaced" : "Cluster",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        ...(shortNames === undefined ? {} : { shortNames: [...shortNames] }),
        singular: kind.kind.toLowerCase(),
      },
      conversion: { strategy: "None" },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schemaOf(kind) },
          subresources: { status: {} },
          additionalPrinterColumns: [...columns, ...defaultPrinterColumns].map(
            (column): JsonObject => ({ ...column }),
          ),
          ...(selectableFields.length === 0
            ? {}
            : { selectableFields: selectableFields.map((field) => ({ jsonPath: `.${field}` })) }),
        },
      ],
    },
  };
}

function schemaOf({ description, spec, status, rules }: DeclaredKind): JsonObject {
  const { required } = spec as { readonly required?: readonly string[] };
  return {
    type: "object",
    description,
    // An object without a spec would lack what the spec requires.
    ...(required === undefined ? {} : { required: ["spec"] }),
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: plain(spec),
      status: plain(status),
    },
    ...(rules === undefined ? {} : { "x-kubernetes-validations": rules.map(plain) }),
  };
}

/** Schemas may be JSON with hidden marks; these stay behind. */
function plain(schema: object): JsonObject {
  return cloneJson(JSON.parse(JSON.stringify(schema)) as Json) as JsonObject;
}
