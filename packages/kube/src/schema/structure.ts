// What makes a schema structural: every value has one declared place, and the rest only narrows it.

import { compareBytes } from "../go-text/byte-order.ts";
import { childPath, itemPath, printFieldError } from "../status/field-error.ts";
import {
  forbiddenField,
  invalidField,
  requiredField,
  type FieldError,
} from "../status/field-error.ts";
import { FieldErrorList } from "../status/field-error-list.ts";
import { patternOf } from "./pattern-cache.ts";
import { valuesEqual } from "./go-value.ts";
import type { Json } from "@keelson/base";
import type { StructuralSchema } from "./structural.ts";

/** Why a schema is not structural; nothing if it is. Sorted by message; of very many only the first that are found. */
export function validateStructure(schema: StructuralSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visitStructure(schema, "root", path, errors);
  visitCompleteness(schema, schema, { structure: path, validation: path }, errors);
  const told = new FieldErrorList([]);
  for (const error of errors) told.add(() => error);
  return told.errors
    .map((error) => ({ error, text: printFieldError(error) }))
    .sort((a, b) => compareBytes(a.text, b.text))
    .map(({ error }) => error);
}

type Level = "root" | "item" | "field";

const emptyType: Record<Level, string> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function visitStructure(
  schema: StructuralSchema,
  level: Level,
  path: string,
  errors: FieldError[],
): void {
  const { type = "", items, properties = {}, additionalProperties } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const isIntOrString = schema["x-kubernetes-int-or-string"] === true;
  const isPreserving = schema["x-kubernetes-preserve-unknown-fields"] === true;

  if (type === "array" && items === undefined) {
    errors.push(requiredField(childPath(path, "items"), "must be specified"));
  }
  if (items !== undefined) visitStructure(items, "item", childPath(path, "items"), errors);
  for (const [name, property] of Object.entries(properties)) {
    visitStructure(property, "field", itemPath(childPath(path, "properties"), name), errors);
  }
  if (additionalProperties !== undefined) {
    const place = childPath(path, "additionalProperties");
    if (level === "root") errors.push(forbiddenField(place, "must not be used at the root"));
    if (typeof additionalProperties === "object") {
      visitStructure(additionalProperties, "field", place, errors);
    }
  }

  if (isIntOrString && isPreserving) {
    const place = childPath(path, "x-kubernetes-preserve-unknown-fields");
    errors.push(invalidField(place, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  if (isIntOrString && isEmbedded) {
    const place = childPath(path, "x-kubernetes-embedded-resource");
    errors.push(invalidField(place, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  visitValidation(schema, path, errors, {
    skipAnyOf: isIntegerOrString(schema.anyOf),
    skipFirstAllOf: isIntegerOrString(schema.allOf?.[0]?.anyOf),
  });

  if (isEmbedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    const place = childPath(path, "type");
    errors.push(type === "" ? requiredField(place, detail) : invalidField(place, type, detail));
  } else if (type === "" && !isIntOrString && !isPreserving) {
    errors.push(requiredField(childPath(path, "type"), emptyType[level]));
  }
  if (isEmbedded && additionalProperties !== undefined) {
    const detail = "must not be used if x-kubernetes-embedded-resource is set";
    errors.push(forbiddenField(childPath(path, "additionalProperties"), detail));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalidField(childPath(path, "type"), type, "must be object at the root"));
  }
  visitMeta(schema, level, path, errors);
  if (isEmbedded && !isPreserving && Object.keys(properties).length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(requiredField(childPath(path, "properties"), detail));
  }
}

/** `kind`, `apiVersion` and `metadata` of an object are not the schema's to define. */
function visitMeta(
  schema: StructuralSchema,
  level: Level,
  path: string,
  errors: FieldError[],
): void {
  const properties = schema.properties ?? {};
  const isObject = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  const property = (name: string): StructuralSchema | undefined =>
    Object.hasOwn(properties, name) ? properties[name] : undefined;
  const placeOf = (name: string): string => itemPath(childPath(path, "properties"), name);
  for (const name of ["kind", "apiVersion"]) {
    const type = property(name)?.type ?? "";
    if (property(name) !== undefined && isObject && type !== "string") {
      errors.push(invalidField(childPath(placeOf(name), "type"), type, "must be string"));
    }
  }
  const metadata = property("metadata");
  if (metadata === undefined) return;
  if (isObject && metadata.type !== "object") {
    errors.push(
      invalidField(childPath(placeOf("metadata"), "type"), metadata.type ?? "", "must be object"),
    );
  }
  if (level === "root" && saysMoreThanNames(metadata)) {
    const detail =
      "must not specify anything other than name and generateName, but metadata is implicitly specified";
    errors.push(forbiddenField(placeOf("metadata"), detail));
  }
}

function saysMoreThanNames({ type: _type, default: _default, ...rest }: StructuralSchema): boolean {
  const { properties = {}, ...others } = rest;
  if (Object.keys(others).length > 0) return true;
  return Object.keys(properties).some((name) => name !== "name" && name !== "generateName");
}

/** The one place where types may stand in an `anyOf`. */
function isIntegerOrString(anyOf: readonly StructuralSchema[] | undefined): boolean {
  return valuesEqual((anyOf ?? []) as Json, [{ type: "integer" }, { type: "string" }]);
}

interface Skips {
  readonly skipAnyOf: boolean;
  readonly skipFirstAllOf: boolean;
}

const skipNothing: Skips = { skipAnyOf: false, skipFirstAllOf: false };

function visitValidation(
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
  { skipAnyOf, skipFirstAllOf }: Skips,
): void {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern = "" } = schema;
  if (!skipAnyOf) {
    for (const [index, part] of anyOf.entries()) {
      visitNested(part, itemPath(childPath(path, "anyOf"), index), errors, skipNothing);
    }
  }
  for (const [index, part] of allOf.entries()) {
    visitNested(part, itemPath(childPath(path, "allOf"), index), errors, {
      skipAnyOf: skipFirstAllOf && index === 0,
      skipFirstAllOf: false,
    });
  }
  for (const [index, part] of oneOf.entries()) {
    visitNested(part, itemPath(childPath(path, "oneOf"), index), errors, skipNothing);
  }
  if (not !== undefined) visitNested(not, childPath(path, "not"), errors, skipNothing);
  if (pattern !== "") {
    const { error } = patternOf(pattern);
    if (error !== undefined) {
      const detail = `must be a valid regular expression, but isn't: ${error}`;
      errors.push(invalidField(childPath(path, "pattern"), pattern, detail));
    }
  }
}

/** What would declare structure, where only validation may stand. */
const forbiddenWhenNested: readonly (readonly [key: keyof StructuralSchema, detail: string])[] = [
  ["type", "must be empty to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function visitNested(
  schema: StructuralSchema,
  path: string,
  errors: FieldError[],
  skips: Skips,
): void {
  visitValidation(schema, path, errors, skips);
  const { items, properties = {}, additionalProperties } = schema;
  if (items !== undefined) visitNested(items, childPath(path, "items"), errors, skipNothing);
  for (const [name, property] of Object.entries(properties)) {
    visitNested(property, itemPath(childPath(path, "properties"), name), errors, skipNothing);
  }
  if (additionalProperties !== undefined && additionalProperties !== false) {
    const detail = "must be undefined to be structural";
    errors.push(forbiddenField(childPath(path, "additionalProperties"), detail));
  }
  for (const [key, detail] of forbiddenWhenNested) {
    if (schema[key] !== undefined) errors.push(forbiddenField(childPath(path, key), detail));
  }
  if (Object.hasOwn(properties, "metadata")) {
    const place = itemPath(childPath(path, "properties"), "metadata");
    errors.push(forbiddenField(place, "must not be specified in a nested context"));
  }
}

interface Paths {
  readonly structure: string;
  readonly validation: string;
}

/** Whatever the root's validation speaks of must be declared in its structure. */
function visitCompleteness(
  validation: StructuralSchema,
  structure: StructuralSchema,
  paths: Paths,
  errors: FieldError[],
): void {
  const { not, allOf = [], anyOf = [], oneOf = [] } = validation;
  const nested = (part: StructuralSchema, place: string): void =>
    visitNestedCompleteness(part, structure, { ...paths, validation: place }, errors);
  if (not !== undefined) nested(not, childPath(paths.validation, "not"));
  for (const [name, parts] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [index, part] of parts.entries()) {
      nested(part, itemPath(childPath(paths.validation, name), index));
    }
  }
}

function visitNestedCompleteness(
  validation: StructuralSchema,
  structure: StructuralSchema | undefined,
  paths: Paths,
  errors: FieldError[],
): void {
  if (structure === undefined) {
    errors.push(requiredField(paths.structure, `because it is defined in ${paths.validation}`));
    return;
  }
  visitCompleteness(validation, structure, paths, errors);
  if (validation.items !== undefined) {
    const below = stepInto(paths, (path) => childPath(path, "items"));
    visitNestedCompleteness(validation.items, structure.items, below, errors);
  }
  const declared = structure.properties ?? {};
  for (const [name, property] of Object.entries(validation.properties ?? {})) {
    const below = stepInto(paths, (path) => itemPath(childPath(path, "properties"), name));
    const part = Object.hasOwn(declared, name) ? declared[name] : undefined;
    visitNestedCompleteness(property, part, below, errors);
  }
}

function stepInto(paths: Paths, step: (path: string) => string): Paths {
  return { structure: step(paths.structure), validation: step(paths.validation) };
}
