// Definitions of custom kinds that show everything discovery and OpenAPI can say of one.

import type { JsonObject } from "@keelson/base";

const condition = {
  type: "object",
  required: ["type", "status"],
  properties: {
    type: { type: "string", maxLength: 316 },
    status: { type: "string", enum: ["True", "False", "Unknown"] },
    lastTransitionTime: { type: "string", format: "date-time" },
  },
} as const;

const widgetSchema = {
  type: "object",
  description: "A widget.",
  required: ["spec"],
  properties: {
    apiVersion: { type: "string", description: "own words" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: {
      type: "object",
      description: "What is wanted.",
      required: ["size"],
      "x-kubernetes-validations": [{ rule: "self.size > 0", message: "must be positive" }],
      properties: {
        size: { type: "integer", format: "int32", minimum: 0, maximum: 10, default: 1 },
        ratio: { type: "number", exclusiveMinimum: true, minimum: 0, multipleOf: 0.5 },
        color: { type: "string", enum: ["red", "green"], default: "red" },
        pattern: { type: "string", pattern: "^a.*$", minLength: 1, maxLength: 5 },
        port: { "x-kubernetes-int-or-string": true },
        limit: {
          "x-kubernetes-int-or-string": true,
          anyOf: [{ type: "integer" }, { type: "string" }],
          pattern: "^[0-9]+$",
        },
        note: { type: "string", nullable: true },
        holder: { type: "object", nullable: true, properties: { name: { type: "string" } } },
        when: { type: "string", format: "date-time" },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
          items: {
            type: "object",
            required: ["port", "protocol"],
            properties: {
              port: { type: "integer" },
              protocol: { type: "string", default: "TCP" },
            },
          },
        },
        selector: {
          type: "object",
          "x-kubernetes-map-type": "atomic",
          additionalProperties: { type: "string" },
        },
        template: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        typed: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          properties: { metadata: { type: "object" }, data: { type: "string" } },
        },
        anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        any: { "x-kubernetes-preserve-unknown-fields": true },
        choice: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          oneOf: [{ required: ["a"] }, { required: ["b"] }],
          not: { required: ["a", "b"] },
        },
        both: { type: "string", allOf: [{ minLength: 1 }, { maxLength: 9 }] },
        example: { type: "string", example: "so", title: "Titled" },
        documented: {
          type: "string",
          externalDocs: { url: "https://example.com", description: "d" },
        },
        replicas: { type: "integer" },
        items: {
          type: "array",
          minItems: 1,
          maxItems: 3,
          items: { type: "object", properties: { deep: { type: "object", nullable: true } } },
        },
        bounded: {
          type: "object",
          minProperties: 1,
          maxProperties: 2,
          additionalProperties: {
            type: "object",
            properties: { x: { type: "integer", format: "int64" } },
          },
        },
      },
    },
    status: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        selector: { type: "string" },
        phase: { type: "string" },
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: condition,
        },
      },
    },
  },
} as const;

function definition(
  group: string,
  {
    names,
    scope = "Namespaced",
    versions,
  }: {
    readonly names: JsonObject & { readonly plural: string };
    readonly scope?: string;
    readonly versions: readonly JsonObject[];
  },
): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, names, scope, versions },
  };
}

const open: JsonObject = {
  openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
};

/** Every way in which a definition differs from the next. */
export const definitions: readonly JsonObject[] = [
  definition("shapes.example.com", {
    names: {
      plural: "widgets",
      singular: "widget",
      kind: "Widget",
      listKind: "WidgetList",
      shortNames: ["wd", "wdg"],
      categories: ["all", "shapes"],
    },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: "use v1",
        schema: open,
      },
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: widgetSchema },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.replicas",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
        selectableFields: [{ jsonPath: ".spec.color" }],
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      },
      { name: "v2alpha1", served: true, storage: false, schema: open },
      { name: "v1alpha1", served: false, storage: false, schema: open },
      { name: "v10", served: true, storage: false, deprecated: true, schema: open },
      { name: "edge", served: true, storage: false, schema: open },
    ],
  }),
  definition("shapes.example.com", {
    names: { plural: "boxes", kind: "Box" },
    scope: "Cluster",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { data: { type: "object", additionalProperties: { type: "string" } } },
          },
        },
        subresources: { status: {} },
      },
    ],
  }),
  definition("alone.example.com", {
    names: { plural: "bags", singular: "sack", kind: "Bag", listKind: "BagPile" },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object" } },
            oneOf: [{ required: ["spec"] }],
          },
        },
      },
    ],
  }),
];
