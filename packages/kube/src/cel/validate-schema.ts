// Whether a schema may be used in a CustomResourceDefinition.

import { append, type Json } from "@keelson/base";
import { validateDefaults } from "./validate-defaults.ts";
import {
  childPath,
  itemPath,
  forbiddenField,
  invalidField,
  invalidShownField,
  notSupportedField,
  requiredField,
} from "../status/field-error.ts";
import type { FieldError } from "../status/field-error.ts";
import type { WrittenSchema } from "../schema/read-schema.ts";
import { schemaText } from "../schema/schema-text.ts";
import { validateStructure } from "../schema/structure.ts";
import { validateListSchema } from "./validate-list-schema.ts";
import { validateRuleTexts, validateRuleTypes } from "./validate-rule-texts.ts";

export interface SchemaValidity {
  /** Where the schema stands: `spec.versions[0].schema.openAPIV3Schema`. */
  readonly path: string;
  /** Whether the kind has a `/status`: then the root may say only so much. */
  readonly hasStatus?: boolean;
}

/**
 * What is wrong with a schema, in the words and at the paths of the real server. Rules are compiled and
 * type-checked, but only where everything else is right: their types come from the schema.
 */
export function validateSchema(
  schema: WrittenSchema,
  { path, hasStatus = false }: SchemaValidity,
): FieldError[] {
  const errors: FieldError[] = [];
  if (hasStatus) append(errors, rootErrors(schema, path));
  if (schema.nullable === true) {
    errors.push(forbiddenField(childPath(path, "nullable"), "nullable cannot be true at the root"));
  }
  const unsupported = unsupportedIn(schema);
  let isUsable = false;
  if (unsupported === undefined) {
    const structural = validateStructure(schema, path);
    const found = structural.length > 0 ? structural : validateDefaults(schema, path);
    append(errors, found);
    isUsable = found.length === 0;
  }
  const walk = new Walk();
  walk.visit(schema, path, { ...rootContext, isUsable });
  append(errors, walk.errors);
  append(errors, walk.ruleErrors);
  if (errors.length === 0 && unsupported !== undefined) {
    errors.push(invalidField(path, "", unsupported));
  }
  return errors;
}

/** What may stand at the root of a kind with a `/status`, by the names of the real server's fields. */
const allowedAtRoot =
  "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations";
const allowedKeys = new Set(
  "description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields x-kubernetes-validations".split(
    " ",
  ),
);

function rootErrors(schema: WrittenSchema, path: string): FieldError[] {
  if (schema.type !== undefined && schema.type !== "object") {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [invalidField(childPath(path, "type"), schema.type, detail)];
  }
  if (Object.keys(schema).every((key) => allowedKeys.has(key))) return [];
  const detail = `only [${allowedAtRoot}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalidShownField(path, schemaText(schema as Json), detail)];
}

/**
 * Keys that keep a schema from being read as a structural one; each has an error of its own below. Who asks about parts
 * of a schema too passes what is `known`, so that no part is looked at for each that it stands in.
 */
export function unsupportedIn(
  schema: WrittenSchema,
  known = new Map<WrittenSchema, string | undefined>(),
): string | undefined {
  if (!known.has(schema)) known.set(schema, findUnsupported(schema, known));
  return known.get(schema);
}

function findUnsupported(
  schema: WrittenSchema,
  known: Map<WrittenSchema, string | undefined>,
): string | undefined {
  const { $ref = "", id = "", $schema = "" } = schema;
  const name = [
    id !== "" ? "id" : undefined,
    $schema !== "" ? "schema" : undefined,
    $ref !== "" ? "$ref" : undefined,
    schema.patternProperties === undefined ? undefined : "patternProperties",
    schema.dependencies === undefined ? undefined : "dependencies",
    schema.additionalItems === undefined ? undefined : "additionalItems",
    schema.definitions === undefined ? undefined : "definitions",
  ].find((found) => found !== undefined);
  if (name !== undefined) return `OpenAPIV3Schema '${name}' is not supported`;
  if (Array.isArray(schema.items))
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  const parts: WrittenSchema[] = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ];
  if (schema.items !== undefined) parts.push(schema.items);
  if (schema.not !== undefined) parts.push(schema.not);
  if (typeof schema.additionalProperties === "object") parts.push(schema.additionalProperties);
  for (const part of parts) {
    const found = unsupportedIn(part, known);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What holds at a place because of what is above it. */
interface Context {
  readonly isRoot: boolean;
  /** Why there must be no default here, or nothing. */
  readonly noDefaults: string | undefined;
  readonly isInsideMeta: boolean;
  /** The place above from which on old and new values cannot be told to belong together. */
  readonly uncorrelated: string | undefined;
  /** Whether rules can be compiled here. */
  readonly isUsable: boolean;
}

const rootContext: Context = {
  isRoot: true,
  noDefaults: undefined,
  isInsideMeta: false,
  uncorrelated: undefined,
  isUsable: true,
};

const types = ["array", "boolean", "integer", "number", "object", "string"];
const metaFields = new Set(["metadata", "kind", "apiVersion"]);

class Walk {
  readonly errors: FieldError[] = [];
  readonly ruleErrors: FieldError[] = [];
  readonly #unsupported = new Map<WrittenSchema, string | undefined>();

  /** Visits a schema; returns whether it and everything below are free of errors. */
  visit(schema: WrittenSchema, path: string, context: Context): boolean {
    const before = this.errors.length;
    this.#own(schema, path, context);
    this.#parts(schema, path, { ...context, isRoot: false }, context);
    append(this.errors, validateListSchema(schema, path));
    const rules = schema["x-kubernetes-validations"] ?? [];
    const isReadable = unsupportedIn(schema, this.#unsupported) === undefined;
    append(this.errors, validateRuleTexts(rules, isReadable ? schema : undefined, path));
    const isRight = this.errors.length === before;
    if (isRight && context.isUsable && rules.length > 0) {
      const isObject = context.isRoot || schema["x-kubernetes-embedded-resource"] === true;
      const { uncorrelated } = context;
      append(this.ruleErrors, validateRuleTypes(schema, { path, isObject, uncorrelated }));
    }
    return isRight;
  }

  #own(schema: WrittenSchema, path: string, context: Context): void {
    const { type } = schema;
    const unsupported = (key: string): void => {
      this.errors.push(forbiddenField(childPath(path, key), `${key} is not supported`));
    };
    if (type !== undefined && !types.includes(type)) {
      this.errors.push(notSupportedField(childPath(path, "type"), type, [...types].sort()));
    }
    if (schema.default !== undefined && context.noDefaults !== undefined) {
      this.errors.push(
        forbiddenField(childPath(path, "default"), `must not be set ${context.noDefaults}`),
      );
    }
    if (schema.id !== undefined) unsupported("id");
    if (schema.additionalItems !== undefined) unsupported("additionalItems");
    if (schema.patternProperties !== undefined) unsupported("patternProperties");
    if (schema.definitions !== undefined) unsupported("definitions");
    if (schema.dependencies !== undefined) unsupported("dependencies");
    if (schema.$ref !== undefined) unsupported("$ref");
    if ((type as string) === "null") {
      const detail = "type cannot be set to null, use nullable as an alternative";
      this.errors.push(forbiddenField(childPath(path, "type"), detail));
    }
    if (Array.isArray(schema.items)) {
      const detail = "items must be a schema object and not an array";
      this.errors.push(forbiddenField(childPath(path, "items"), detail));
    }
    if (context.isInsideMeta && schema["x-kubernetes-embedded-resource"] === true) {
      const detail = "must not be used inside of resource meta";
      this.errors.push(forbiddenField(childPath(path, "x-kubernetes-embedded-resource"), detail));
    }
    if (schema.uniqueItems === true) {
      const detail =
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
      this.errors.push(forbiddenField(childPath(path, "uniqueItems"), detail));
    }
    if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
      const place = childPath(path, "x-kubernetes-preserve-unknown-fields");
      this.errors.push(invalidField(place, false, "must be true or undefined"));
    }
    const mapType = schema["x-kubernetes-map-type"];
    if (mapType !== undefined && type !== "object") {
      const detail = "must be object if x-kubernetes-map-type is specified";
      const place = childPath(path, "type");
      this.errors.push(
        type === undefined ? requiredField(place, detail) : invalidField(place, type, detail),
      );
    }
    if (mapType !== undefined && mapType !== "atomic" && mapType !== "granular") {
      const place = childPath(path, "x-kubernetes-map-type");
      this.errors.push(notSupportedField(place, mapType, ["atomic", "granular"]));
    }
  }

  #parts(schema: WrittenSchema, path: string, below: Context, here: Context): void {
    const { properties = {}, additionalProperties } = schema;
    if (additionalProperties !== undefined) {
      const place = childPath(path, "additionalProperties");
      if (Object.keys(properties).length > 0 && additionalProperties !== true) {
        const detail = "additionalProperties and properties are mutual exclusive";
        this.errors.push(forbiddenField(place, detail));
      }
      if (typeof additionalProperties === "object") {
        const noDefaults = here.isInsideMeta
          ? "inside additionalProperties applying to object metadata"
          : here.noDefaults;
        this.visit(additionalProperties, place, { ...below, noDefaults });
      }
    }
    const isObject = here.isRoot || schema["x-kubernetes-embedded-resource"] === true;
    for (const [name, property] of Object.entries(properties)) {
      let context = below;
      if (isObject && metaFields.has(name)) {
        const noDefaults = here.isRoot ? `in top-level ${name}` : context.noDefaults;
        context = { ...context, isInsideMeta: true, noDefaults };
      }
      this.visit(property, itemPath(childPath(path, "properties"), name), context);
    }
    const nested = { ...below, isUsable: false };
    const { not, allOf = [], oneOf = [], anyOf = [], items } = schema;
    if (not !== undefined) this.visit(not, childPath(path, "not"), nested);
    for (const [name, list] of Object.entries({ allOf, oneOf, anyOf })) {
      for (const [index, part] of list.entries()) {
        this.visit(part, itemPath(childPath(path, name), index), nested);
      }
    }
    if (items !== undefined && !Array.isArray(items)) {
      const isMap = schema["x-kubernetes-list-type"] === "map";
      const uncorrelated = below.uncorrelated ?? (isMap ? undefined : path);
      this.visit(items, childPath(path, "items"), { ...below, uncorrelated });
    }
  }
}
