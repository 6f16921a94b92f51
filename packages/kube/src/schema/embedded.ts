// Objects inside objects: their `apiVersion`, `kind` and `metadata` follow the rules of any object.

import { append, isJsonArray, isJsonObject } from "@keelson/base";
import type { Json, JsonObject, MutableJson, MutableJsonObject } from "@keelson/base";
import {
  childPath,
  itemPath,
  invalidField,
  requiredField,
  type FieldError,
} from "../status/field-error.ts";
import { byteLength } from "../go-text/byte-order.ts";
import { validateMetadata } from "../object/metadata-rules.ts";
import { pathSegmentNames } from "../object/names.ts";
import { coerceMetadata } from "./metadata-shape.ts";
import { somewhereBelow } from "./somewhere-below.ts";
import type { StructuralSchema } from "./structural.ts";
import { UnknownFields } from "./unknown-fields.ts";

/**
 * What is wrong with the objects that a schema marks with `x-kubernetes-embedded-resource`; with `isObject` also
 * with the value itself.
 */
export function validateEmbedded(
  schema: StructuralSchema,
  value: Json,
  { path = "", isObject = false }: { readonly path?: string; readonly isObject?: boolean } = {},
): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, { path, isResource: isObject || isEmbedded(schema) }, (object, at) => {
    append(errors, resourceErrors(object, at));
  });
  return errors;
}

/**
 * Brings the metadata of embedded objects into its typed form, in place: unknown fields go and are returned as
 * paths, of very many only the first. Throws the error of the first one that cannot be brought there as `EmbeddedInvalid`.
 */
export function coerceEmbedded(
  schema: StructuralSchema,
  value: MutableJson,
  { path = "", isObject = false }: { readonly path?: string; readonly isObject?: boolean } = {},
): string[] {
  const unknown = new UnknownFields();
  visit(schema, value, { path, isResource: isObject || isEmbedded(schema) }, (object, at) => {
    coerceResource(object as MutableJsonObject, at, unknown);
  });
  return unknown.paths.sort();
}

/** An embedded object whose type or metadata cannot be read. */
export class EmbeddedInvalid extends Error {
  readonly code = "EMBEDDED_INVALID";
  readonly error: FieldError;

  constructor(error: FieldError) {
    super(`${error.field} of an embedded object cannot be read: ${error.detail}`);
    this.name = "EmbeddedInvalid";
    this.error = error;
  }
}

interface Place {
  readonly path: string;
  readonly isResource: boolean;
}

function isEmbedded(schema: StructuralSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

function visit(
  schema: StructuralSchema,
  value: Json,
  { path, isResource }: Place,
  seen: (object: JsonObject, path: string) => void,
): void {
  if (!isResource && !hasEmbedded(schema)) return;
  if (isJsonObject(value)) {
    if (isResource) seen(value, path);
    const { properties = {}, additionalProperties } = schema;
    for (const name of Object.keys(value)) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const member = value[name] ?? null;
      if (property !== undefined) {
        const place = { path: childPath(path, name), isResource: isEmbedded(property) };
        visit(property, member, place, seen);
      } else if (typeof additionalProperties === "object") {
        const place = { path: itemPath(path, name), isResource: isEmbedded(additionalProperties) };
        visit(additionalProperties, member, place, seen);
      }
    }
  } else if (isJsonArray(value) && schema.items !== undefined) {
    for (const [index, item] of value.entries()) {
      const place = { path: itemPath(path, index), isResource: isEmbedded(schema.items) };
      visit(schema.items, item, place, seen);
    }
  }
}

function resourceErrors(object: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["apiVersion", "kind"]) {
    if (!Object.hasOwn(object, name)) errors.push(requiredField(childPath(path, name)));
  }
  for (const [name, value] of Object.entries(object)) {
    const place = childPath(path, name);
    if (name === "apiVersion" || name === "kind") {
      const detail = name === "kind" ? kindProblem(value) : apiVersionProblem(value);
      if (detail !== undefined) errors.push(invalidField(place, value, detail));
    } else if (name === "metadata") {
      const coerced = coerceMetadata(value);
      if (coerced.error === undefined) append(errors, metadataErrors(coerced.metadata, place));
      else errors.push(invalidField(place, value, coerced.error));
    }
  }
  return errors;
}

/** The rules for any metadata, but a name may be missing, and a namespace is as it likes. */
function metadataErrors(metadata: JsonObject, path: string): FieldError[] {
  const { name, namespace } = metadata;
  const isNamespaced = typeof namespace === "string" && namespace !== "";
  const named = name === undefined ? { ...metadata, name: "unnamed" } : metadata;
  return validateMetadata(named, { isNamespaced, nameRule: pathSegmentNames }, path);
}

function apiVersionProblem(value: Json): string | undefined {
  if (typeof value !== "string") return "must be a string";
  if (value === "") return "must not be empty";
  if (value.split("/").length > 2) return `unexpected GroupVersion string: ${value}`;
  return undefined;
}

/** With two spaces in it, as the real server has them. */
const labelProblem =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

function kindProblem(value: Json): string | undefined {
  if (typeof value !== "string") return "must be a string";
  if (value === "") return "must not be empty";
  const lower = value.toLowerCase();
  const problems: string[] = [];
  if (byteLength(lower) > 63) problems.push("must be no more than 63 bytes");
  if (!/^[a-z](?:[-a-z0-9]*[a-z0-9])?$/.test(lower)) problems.push(labelProblem);
  if (problems.length === 0) return undefined;
  return `may have mixed case, but should otherwise match: ${problems.join(",")}`;
}

function coerceResource(object: MutableJsonObject, path: string, unknown: UnknownFields): void {
  for (const name of ["apiVersion", "kind"]) {
    const value = object[name];
    if (value !== undefined && typeof value !== "string") {
      throw new EmbeddedInvalid(invalidField(childPath(path, name), value, "must be a string"));
    }
  }
  const { metadata } = object;
  if (metadata === undefined) return;
  const place = childPath(path, "metadata");
  const coerced = coerceMetadata(metadata);
  if (coerced.error !== undefined) {
    throw new EmbeddedInvalid(invalidField(place, metadata, coerced.error));
  }
  object["metadata"] = coerced.metadata;
  for (const name of coerced.unknown) unknown.add(childPath(place, name));
}

const hasEmbedded = somewhereBelow(isEmbedded);
