// A JSON Schema as a list of fields that people read: where each stands, what it may be, what it means.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

export interface Field {
  /** As `status.conditions[].type`; empty for the value itself, where that is no object. */
  readonly path: string;
  /** As `integer, 1 to 100`, or `gcp | aws`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** How deep fields are told: what is below is free-form in all schemas of ours. */
const depthMax = 12;

/** The fields of a value, those within others after them. */
export function fieldsOf(schema: Json): readonly Field[] {
  const within = fieldsWithin(schema, "", 0);
  if (within.length > 0) return within;
  return [{ path: "", type: typeOf(schema), isRequired: true, description: descriptionOf(schema) }];
}

/** The parameters of a request that stand in one place, `query` or `header`: whichever there are, none must be given. */
export function parametersIn(
  place: string,
  parameters: readonly { readonly name: string; readonly in: string; readonly schema: Json }[],
): readonly Field[] {
  return parameters
    .filter((parameter) => parameter.in === place)
    .flatMap(({ name, schema }) => {
      const [field] = fieldsOf(schema);
      return field === undefined ? [] : [{ ...field, path: name, isRequired: false }];
    });
}

function fieldsWithin(schema: Json | undefined, path: string, depth: number): readonly Field[] {
  if (schema === undefined || !isJsonObject(schema) || depth > depthMax) return [];
  if (schema["items"] !== undefined) return fieldsWithin(schema["items"], `${path}[]`, depth + 1);
  const alternatives = alternativesOf(schema).filter((one) => !isNull(one));
  if (alternatives.length === 1) return fieldsWithin(alternatives[0], path, depth + 1);
  const { properties, required = [] } = schema as { properties?: JsonObject; required?: string[] };
  return Object.entries(properties ?? {}).flatMap(([name, member]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const field = {
      path: at,
      type: typeOf(member),
      isRequired: required.includes(name),
      description: descriptionOf(member),
    };
    return [field, ...fieldsWithin(member, at, depth + 1)];
  });
}

/** What a value may be, in a few words. */
function typeOf(schema: Json): string {
  if (!isJsonObject(schema)) return "any";
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeOf))].join(" | ");
  const { const: only, enum: words, type, format, items, $ref } = schema;
  if (only !== undefined) return wordOf(only);
  if (isJsonArray(words)) return words.map(wordOf).join(" | ");
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? $ref;
  if (type === "array") return `list of ${items === undefined ? "any" : typeOf(items)}`;
  if (typeof type !== "string") return "any";
  return [typeof format === "string" ? format : type, ...boundsOf(schema)].join(", ");
}

function boundsOf(schema: JsonObject): readonly string[] {
  return [
    range(schema["minimum"], schema["maximum"], ""),
    range(schema["minLength"], schema["maxLength"], " characters"),
    ...(schema["default"] === undefined ? [] : [`${wordOf(schema["default"])} unless told`]),
  ].filter((text) => text !== "");
}

/** Bounds that only say what numbers can be are none. */
function range(min: Json | undefined, max: Json | undefined, unit: string): string {
  const upper = max === Number.MAX_SAFE_INTEGER ? undefined : max;
  if (min !== undefined && upper !== undefined) return `${wordOf(min)} to ${wordOf(upper)}${unit}`;
  if (upper !== undefined) return `at most ${wordOf(upper)}${unit}`;
  return min === undefined ? "" : `at least ${wordOf(min)}${unit}`;
}

function alternativesOf(schema: JsonObject): readonly Json[] {
  const { anyOf, oneOf } = schema;
  return isJsonArray(anyOf) ? anyOf : isJsonArray(oneOf) ? oneOf : [];
}

function isNull(schema: Json): boolean {
  return isJsonObject(schema) && schema["type"] === "null";
}

function descriptionOf(schema: Json): string {
  const description = isJsonObject(schema) ? schema["description"] : undefined;
  return typeof description === "string" ? description : "";
}

function wordOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
