// Defaults must be what they stand in for: valid, pruned, and of valid metadata.

import { append, cloneJson, type Json, type MutableJson } from "@keelson/base";
import { coerceEmbedded, EmbeddedInvalid, validateEmbedded } from "../schema/embedded.ts";
import {
  childPath,
  itemPath,
  printFieldError,
  invalidField,
  type FieldError,
} from "../status/field-error.ts";
import { valuesEqual } from "../schema/go-value.ts";
import { prune } from "../schema/prune.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { report } from "../schema/report.ts";
import { validateRules } from "./rules.ts";

/** What is wrong with the defaults of a structural schema. */
export function validateDefaults(schema: StructuralSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, { path, isRoot: true, isInsideMeta: false, surround: asObject }, errors);
  return errors;
}

/** Builds the object around a default, as far up as the next whole object. */
type Surround = (value: MutableJson) => MutableJson;

const asObject: Surround = (value) => ({
  kind: "Validation",
  apiVersion: "validation/v1",
  ...(value as Record<string, MutableJson>),
});

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Whether this is a part of an object's own type or metadata. */
  readonly isInsideMeta: boolean;
  readonly surround: Surround;
  /** The schema of the whole object that metadata belongs to. */
  readonly object?: StructuralSchema;
}

function visit(schema: StructuralSchema, place: Place, errors: FieldError[]): void {
  const isObject = place.isRoot || schema["x-kubernetes-embedded-resource"] === true;
  const here: Place = isObject
    ? { ...place, isInsideMeta: false, surround: asObject, object: schema }
    : place;
  if (schema.default !== undefined) {
    const at = childPath(here.path, "default");
    const found = here.isInsideMeta
      ? metaErrors(schema, schema.default, here)
      : plainErrors(schema, schema.default, { at, isObject });
    if (found.length > 0) append(errors, found);
    else {
      const isWhole = schema["x-kubernetes-embedded-resource"] === true;
      const options = { path: at, isObject: isWhole };
      const kept = validateRules(schema, schema.default, { ...options, old: schema.default });
      append(errors, kept.errors);
      if (kept.errors.length === 0) {
        append(errors, validateRules(schema, schema.default, options).errors);
      }
    }
  }
  const { items, properties = {} } = schema;
  if (items !== undefined) {
    const surround: Surround = (value) => here.surround([value]);
    const below = { ...here, isRoot: false, path: childPath(here.path, "items"), surround };
    visit(items, below, errors);
  }
  for (const [name, property] of Object.entries(properties)) {
    const isMeta = isObject && ["metadata", "apiVersion", "kind"].includes(name);
    const surround: Surround = (value) => here.surround({ [name]: value });
    const path = itemPath(childPath(here.path, "properties"), name);
    const isInsideMeta = here.isInsideMeta || isMeta;
    visit(property, { ...here, isRoot: false, path, isInsideMeta, surround }, errors);
  }
}

function plainErrors(
  schema: StructuralSchema,
  value: Json,
  { at, isObject }: { readonly at: string; readonly isObject: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  const copy = cloneJson(value);
  prune(copy, schema, { isObject });
  if (!valuesEqual(copy, value))
    errors.push(invalidField(at, value, "must not have unknown fields"));
  const wrong = coercionError(schema, cloneJson(value), { path: at, isObject });
  if (wrong !== undefined) return [...errors, wrong];
  const embedded = validateEmbedded(schema, value, { path: at, isObject });
  return [...errors, ...(embedded.length > 0 ? embedded : valueErrors(schema, value, at))];
}

/** What is wrong with a default. Not by the compiled check, which knows nothing of literal formats. */
function valueErrors(schema: StructuralSchema, value: Json, at: string): FieldError[] {
  return report(untyped(schema), value, "").toFieldErrors(at);
}

/**
 * A schema in which what is an integer or a string may be anything, and formats count even where they do not fit:
 * so the real server holds defaults to it.
 */
function untyped(schema: StructuralSchema): StructuralSchema {
  const {
    "x-kubernetes-int-or-string": _either,
    properties,
    items,
    additionalProperties,
    ...rest
  } = schema;
  return {
    ...rest,
    isFormatLiteral: true,
    ...(items === undefined ? {} : { items: untyped(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, part]) => [name, untyped(part)]),
          ),
        }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === "object"
              ? untyped(additionalProperties)
              : additionalProperties,
        }),
  };
}

function metaErrors(
  schema: StructuralSchema,
  value: Json,
  { path, surround, object = schema }: Place,
): FieldError[] {
  const at = childPath(path, "default");
  const whole = surround(cloneJson(value));
  const wrong = coercionError(object, whole, { path: "", isObject: true });
  if (wrong !== undefined) {
    const detail = `must result in valid metadata: ${printFieldError(wrong)}`;
    return [invalidField(at, value, detail)];
  }
  const found = validateEmbedded(object, whole, { isObject: true });
  if (found.length > 0) {
    const all = found.map(printFieldError);
    const detail = all.length === 1 ? all[0] : `[${all.join(", ")}]`;
    return [invalidField(at, value, `must result in valid metadata: ${detail}`)];
  }
  return valueErrors(schema, value, at);
}

function coercionError(
  schema: StructuralSchema,
  value: MutableJson,
  options: { readonly path: string; readonly isObject: boolean },
): FieldError | undefined {
  try {
    coerceEmbedded(schema, value, options);
    return undefined;
  } catch (error) {
    if (error instanceof EmbeddedInvalid) return error.error;
    throw error;
  }
}
