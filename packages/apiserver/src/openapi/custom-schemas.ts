// The schemas of custom kinds as OpenAPI publishes them.

import type { Json, JsonObject } from "@keelson/base";
import { openApiTypeName, type StructuralSchema } from "@keelson/kube";

import type { Resource } from "../resources/resource.ts";

/** Where the schemas of other types are found. */
export interface Dialect {
  readonly isV2: boolean;
  readonly reference: (type: string) => string;
}

/** `com.example.shapes.v1.Widget`. */
export function customTypeName(
  { group, version }: { readonly group: string; readonly version: string },
  kind: string,
): string {
  return `${group.split(".").toReversed().join(".")}.${version}.${kind}`;
}

/** The schemas of a custom kind and of its list, by name. */
export function customSchemas(resource: Resource, dialect: Dialect): [string, JsonObject][] {
  const { group, version, kind, listKind = `${kind}List`, shape } = resource;
  const name = customTypeName(resource, kind);
  const schema = shape.from === "schema" ? shape.schema : undefined;
  return [
    [name, { ...objectSchema(schema, dialect), ...kindMark({ group, version, kind }, resource) }],
    [
      customTypeName(resource, listKind),
      {
        description: `${listKind} is a list of ${kind}`,
        type: "object",
        required: ["items"],
        properties: {
          ...typeProperties,
          items: {
            description: `List of ${resource.plural}.`,
            type: "array",
            items: { $ref: dialect.reference(name) },
          },
          metadata: { $ref: dialect.reference(openApiTypeName("meta.v1.ListMeta")) },
        },
        ...kindMark({ group, version, kind: listKind }, resource),
      },
    ],
  ];
}

const typeProperties: JsonObject = {
  apiVersion: {
    description: "The group and version of this object's kind, such as apps/v1.",
    type: "string",
  },
  kind: { description: "The kind of this object, in CamelCase.", type: "string" },
};

function kindMark(
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  { fieldLabels }: Resource,
): JsonObject {
  return {
    "x-kubernetes-group-version-kind": [kind],
    ...(fieldLabels.length === 0
      ? {}
      : { "x-kubernetes-selectable-fields": fieldLabels.map((fieldPath) => ({ fieldPath })) }),
  };
}

function objectSchema(schema: StructuralSchema | undefined, dialect: Dialect): JsonObject {
  if (schema === undefined) return { type: "object" };
  // Older clients take a list of properties for a list of all properties.
  if (dialect.isV2 && schema["x-kubernetes-preserve-unknown-fields"] === true) {
    return { type: "object" };
  }
  const published = publish(schema, dialect);
  return { ...published, properties: withIdentity(published["properties"], dialect) };
}

function withIdentity(properties: Json | undefined, { reference }: Dialect): JsonObject {
  return {
    ...(properties as JsonObject | undefined),
    ...typeProperties,
    metadata: { $ref: reference(openApiTypeName("meta.v1.ObjectMeta")) },
  };
}

type Draft = { -readonly [Key in keyof StructuralSchema]: StructuralSchema[Key] };

/** A schema and what is in it, with what the dialect leaves out left out. */
function publish(schema: StructuralSchema, dialect: Dialect): JsonObject {
  const draft: Draft = { ...schema };
  if (dialect.isV2) reduceToV2(draft);
  else unfold(draft);
  const { properties, items, additionalProperties, ...rest } = draft;
  const published: Record<string, Json> = { ...(rest as JsonObject) };
  if (properties !== undefined && Object.keys(properties).length > 0) {
    published["properties"] = Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, publish(part, dialect)]),
    );
  }
  if (items !== undefined) published["items"] = publish(items, dialect);
  if (additionalProperties !== undefined) {
    published["additionalProperties"] =
      typeof additionalProperties === "object"
        ? publish(additionalProperties, dialect)
        : additionalProperties;
  }
  if (schema["x-kubernetes-embedded-resource"] !== true) return published;
  if (dialect.isV2 && schema["x-kubernetes-preserve-unknown-fields"] === true) return published;
  const required = schema.required ?? [];
  const missing = ["kind", "apiVersion"].filter((name) => !required.includes(name));
  published["required"] = [...required, ...missing];
  published["properties"] = withIdentity(published["properties"], dialect);
  return published;
}

const integerOrString = [{ type: "integer" }, { type: "string" }] as const;

/** An integer or a string is said in words that need no extension. */
function unfold(schema: Draft): void {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  const isSaid = (parts: readonly StructuralSchema[] | undefined): boolean =>
    parts?.length === 2 && parts[0]?.type === "integer" && parts[1]?.type === "string";
  if (isSaid(schema.anyOf) || isSaid(schema.allOf?.[0]?.anyOf)) return;
  if (schema.anyOf === undefined) schema.anyOf = integerOrString;
  else schema.allOf = [{ anyOf: integerOrString }, ...(schema.allOf ?? [])];
}

/** OpenAPI v2 has no alternatives, no null and no defaults worth trusting, and its readers know less still. */
function reduceToV2(schema: Draft): void {
  for (const key of ["allOf", "anyOf", "oneOf", "not", "default"] as const) delete schema[key];
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema.nullable === true) {
    delete schema.type;
    delete schema.nullable;
  }
  if (schema.type === undefined || isOpen) {
    delete schema.items;
    delete schema.properties;
  }
  if (schema.type === "array" && schema.items === undefined) delete schema.type;
  if (schema.type === "object" && isOpen) delete schema.type;
  const { properties = {}, additionalProperties, required } = schema;
  if (required === undefined) return;
  const kept = required.filter((name) => properties[name]?.nullable !== true);
  const isLoose =
    typeof additionalProperties === "object" && additionalProperties.nullable === true;
  if (isLoose || kept.length === 0) delete schema.required;
  else schema.required = kept;
}
