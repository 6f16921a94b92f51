// The type that a schema gives to `self`.

import type { StructuralSchema } from "../schema/structural.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  string,
  timestamp,
  type CelType,
} from "./cel-type.ts";

/**
 * The type of values of a schema, or nothing where rules cannot see them: where no type is declared, and lists and
 * maps of such. At the root of an object its type and names are always there to see.
 */
export function schemaType(
  schema: StructuralSchema,
  { isObject, name = "object" }: { readonly isObject: boolean; readonly name?: string },
): CelType | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return dyn;
  const { type } = schema;
  switch (type) {
    case "array": {
      const { items } = schema;
      const item = items === undefined ? undefined : partType(items, `${name}.@idx`);
      return item === undefined ? undefined : listOf(item);
    }
    case "object": {
      const { additionalProperties } = schema;
      if (typeof additionalProperties === "object") {
        const value = partType(additionalProperties, `${name}.@elem`);
        return value === undefined ? undefined : mapOf(string, value);
      }
      const fields = new Map<string, CelType>();
      const { properties = {} } = isObject ? withObjectMeta(schema) : schema;
      for (const [property, part] of Object.entries(properties)) {
        const escaped = escapeName(property);
        const field = partType(part, `${name}.${property}`);
        if (escaped !== undefined && field !== undefined) fields.set(escaped, field);
      }
      return { kind: "object", name, fields };
    }
    case "string":
      return stringType(schema.format);
    case "boolean":
      return bool;
    case "number":
      return double;
    case "integer":
      return int;
    case undefined:
      return undefined;
  }
}

function partType(schema: StructuralSchema, name: string): CelType | undefined {
  return schemaType(schema, { isObject: schema["x-kubernetes-embedded-resource"] === true, name });
}

function stringType(format = ""): CelType {
  if (format === "byte") return bytes;
  if (format === "duration") return duration;
  return format === "date" || format === "date-time" ? timestamp : string;
}

/** A schema in which the type and the names of an object are declared. */
export function withObjectMeta(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: "string" };
  const metadata: StructuralSchema = {
    type: "object",
    properties: { name: text, generateName: text },
  };
  return {
    ...schema,
    properties: { ...schema.properties, kind: text, apiVersion: text, metadata },
  };
}

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The name of a property as rules write it, or nothing if they cannot. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^[0-9]/.test(name) || /[^a-zA-Z0-9_./-]/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replaceAll("__", "__underscores__")
    .replaceAll(".", "__dot__")
    .replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}
