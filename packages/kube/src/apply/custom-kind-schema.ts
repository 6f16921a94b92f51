// The schema of a custom kind as server-side apply sees it: with what every object has.

import type { StructuralSchema } from "../schema/structural.ts";

const text: StructuralSchema = { type: "string" };
const time: StructuralSchema = { type: "string", format: "date-time" };
const texts: StructuralSchema = { type: "object", additionalProperties: text };

/** How `metadata` merges, in any kind. */
export const metadataSchema: StructuralSchema = {
  type: "object",
  properties: {
    annotations: texts,
    creationTimestamp: time,
    deletionGracePeriodSeconds: { type: "integer", format: "int64" },
    deletionTimestamp: time,
    finalizers: {
      type: "array",
      items: text,
      "x-kubernetes-list-type": "set",
      "x-kubernetes-patch-strategy": "merge",
    },
    generateName: text,
    generation: { type: "integer", format: "int64" },
    labels: texts,
    managedFields: {
      type: "array",
      "x-kubernetes-list-type": "atomic",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          fieldsType: text,
          fieldsV1: { type: "object" },
          manager: text,
          operation: text,
          subresource: text,
          time,
        },
      },
    },
    name: text,
    namespace: text,
    ownerReferences: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-patch-merge-key": "uid",
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: {
          apiVersion: text,
          blockOwnerDeletion: { type: "boolean" },
          controller: { type: "boolean" },
          kind: text,
          name: text,
          uid: text,
        },
      },
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
};

/**
 * The schema to give `ManagedKind` for the schema of a CustomResourceDefinition, or for none. Keep the result for as
 * long as the definition does not change: what is compiled from it is kept by its identity.
 */
export function customKindSchema(schema: StructuralSchema | undefined): StructuralSchema {
  if (schema === undefined) return { type: "object" };
  return withIdentity(withEmbedded(schema));
}

function withIdentity(schema: StructuralSchema): StructuralSchema {
  const identity = { apiVersion: text, kind: text, metadata: metadataSchema };
  return { ...schema, properties: { ...schema.properties, ...identity } };
}

/** Objects inside the object have an identity too. */
function withEmbedded(schema: StructuralSchema): StructuralSchema {
  const result: { -readonly [Key in keyof StructuralSchema]: StructuralSchema[Key] } = {
    ...schema,
  };
  if (schema.properties !== undefined) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, withEmbedded(member)]),
    );
  }
  if (schema.items !== undefined) result.items = withEmbedded(schema.items);
  if (typeof schema.additionalProperties === "object") {
    result.additionalProperties = withEmbedded(schema.additionalProperties);
  }
  return schema["x-kubernetes-embedded-resource"] === true ? withIdentity(result) : result;
}
