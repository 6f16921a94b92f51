// The kinds of `ark.mckinsey.com`: as definitions, and as resources.

import { cloneJson, type Json, type JsonObject } from "@keelson/base";
import { defaultPrinterColumns } from "@keelson/kube";

import { customResources } from "../resources/custom-resource.ts";
import type { Resource } from "../resources/resource.ts";
import { a2aTask } from "./a2a-task.ts";
import { agent } from "./agent.ts";
import { arkConfig } from "./ark-config.ts";
import { arkGroup } from "./ark-group.ts";
import type { ArkKind } from "./ark-kind.ts";
import { evaluation, evaluator } from "./evaluation.ts";
import { model } from "./model.ts";
import { query } from "./query.ts";
import { a2aServer, executionEngine, mcpServer, memory } from "./servers.ts";
import { team } from "./team.ts";
import { tool } from "./tool.ts";

const kinds: readonly ArkKind[] = [
  query,
  agent,
  model,
  team,
  tool,
  mcpServer,
  memory,
  evaluation,
  evaluator,
  a2aTask,
  a2aServer,
  executionEngine,
  arkConfig,
];

/** As CustomResourceDefinitions, for a cluster that shall have them itself. Complete: a server defaults nothing. */
export function arkDefinitions(): JsonObject[] {
  return kinds.map(definitionOf);
}

/** As resources of ours. Make them once: schemas are compiled for each. */
export function arkResources(): Resource[] {
  return arkDefinitions().flatMap((definition) =>
    // They never change while they are served, as generation 1 says.
    customResources({ ...definition, metadata: { ...nameOf(definition), generation: 1 } }),
  );
}

function nameOf({ metadata }: JsonObject): JsonObject {
  return metadata as JsonObject;
}

function definitionOf(kind: ArkKind): JsonObject {
  const { plural, version, isNamespaced, columns, selectableFields } = kind;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${arkGroup}` },
    spec: {
      group: arkGroup,
      scope: isNamespaced ? "Namespaced" : "Cluster",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
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

function schemaOf({ description, spec, status }: ArkKind): JsonObject {
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
  };
}

/** A TypeBox schema is JSON with hidden marks; these stay behind. */
function plain(schema: object): JsonObject {
  return cloneJson(JSON.parse(JSON.stringify(schema)) as Json) as JsonObject;
}
