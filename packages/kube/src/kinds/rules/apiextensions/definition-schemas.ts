// Looking through all the schemas of a definition.

import type { JsonObject } from "@keelson/base";

import { maybeObject, objectOf } from "../../../object/members.ts";
import { formatCheck } from "../../../schema/formats.ts";
import { readSchema, type WrittenSchema } from "../../../schema/read-schema.ts";
import { definitionForm, type DefinitionForm } from "./definition-form.ts";

function schemasOf(form: DefinitionForm): WrittenSchema[] {
  return [form.validation, ...form.versions.map(({ schema }) => schema)].flatMap((schema) => {
    const written = schema && maybeObject(schema, "openAPIV3Schema");
    return written === undefined ? [] : [readSchema(written)];
  });
}

/** Whether a schema of the definition has a default anywhere. */
export function hasDefaults(form: DefinitionForm): boolean {
  return schemasOf(form).some((schema) =>
    everySchema(schema).some((part) => part.default !== undefined),
  );
}

/** Formats that nobody checks, in the order of the schemas. */
export function unknownFormats(definition: JsonObject): string[] {
  const schemas = schemasOf(definitionForm(objectOf(definition, "spec")));
  return schemas.flatMap((schema) =>
    everySchema(schema).flatMap(({ type, format = "" }) =>
      format === "" || isKnownFormat(type, format) ? [] : [format],
    ),
  );
}

function isKnownFormat(type: string | undefined, format: string): boolean {
  switch (type) {
    case undefined:
    case "string":
      return formatCheck(format) !== undefined;
    case "integer":
      return format === "int32" || format === "int64";
    case "number":
      return format === "float" || format === "double";
    default:
      return false;
  }
}

/** A schema and every schema in it, added to those that were `found`. */
function everySchema(schema: WrittenSchema, found: WrittenSchema[] = []): WrittenSchema[] {
  found.push(schema);
  const { items, allOf = [], anyOf = [], oneOf = [], not, properties = {} } = schema;
  if (items !== undefined) {
    const parts = Array.isArray(items) ? (items as readonly WrittenSchema[]) : [items];
    for (const part of parts) everySchema(part, found);
  }
  for (const part of [...allOf, ...anyOf, ...oneOf]) everySchema(part, found);
  if (not !== undefined) everySchema(not, found);
  for (const part of Object.values(properties)) everySchema(part, found);
  if (typeof schema.additionalProperties === "object") {
    everySchema(schema.additionalProperties, found);
  }
  for (const part of Object.values(schema.patternProperties ?? {})) everySchema(part, found);
  for (const part of Object.values(schema.definitions ?? {})) everySchema(part, found);
  return found;
}
