// Validators compiled ahead: a tree of closures that says whether a value is valid and nothing more. Almost
// every object is, so this is what a write costs; `report.ts` then says what is wrong with the others.

import { isJsonArray, isJsonObject, JsonNumber, type Json, type JsonObject } from "@keelson/base";
import { characterCount } from "./character-count.ts";
import { enumerationOf } from "./enumeration.ts";
import { enforcedFormat, formatCheck } from "./formats.ts";
import { floatOf, isIntegralFloat, kindOf } from "./go-value.ts";
import { isNumberAllowed } from "./number-rules.ts";
import { patternOf } from "./pattern-cache.ts";
import { hasDuplicates } from "./report.ts";
import type { StructuralSchema } from "./structural.ts";

/** Whether a value is valid. */
type Check = (value: Json) => boolean;

/** The check of a schema, compiled once for each schema. A schema may contain itself. */
export function compileCheck(schema: StructuralSchema): Check {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  // What refers back here while this is being compiled finds the finished check when it runs.
  let finished: Check | undefined;
  compiled.set(schema, (value) => finished?.(value) ?? false);
  finished = compile(schema);
  compiled.set(schema, finished);
  return finished;
}

const compiled = new WeakMap<StructuralSchema, Check>();

function compile(schema: StructuralSchema): Check {
  const whenNull = compileNull(schema);
  const parts: Check[] = [
    ...compileType(schema),
    ...compileCombinations(schema),
    ...compileString(schema),
    ...compileNumber(schema),
    ...compileArray(schema),
    ...compileEnum(schema),
    ...compileObject(schema),
  ];
  const [first, second, third] = parts;
  // Most values are plain strings: they need one look.
  if (second === undefined && schema.type === "string" && enforcedFormat(schema) === "") {
    return whenNull
      ? (value) => typeof value === "string" || value === null
      : (value) => typeof value === "string";
  }
  if (first === undefined) return (value) => value !== null || whenNull;
  if (second === undefined) return (value) => (value === null ? whenNull : first(value));
  if (third === undefined) {
    return (value) => (value === null ? whenNull : first(value) && second(value));
  }
  return (value) => {
    if (value === null) return whenNull;
    for (const part of parts) if (!part(value)) return false;
    return true;
  };
}

function compileNull(schema: StructuralSchema): boolean {
  if ((schema.enum ?? []).length > 0) return false;
  const isTyped = schema.type !== undefined || schema["x-kubernetes-int-or-string"] === true;
  return !isTyped || schema.nullable === true;
}

function compileType(schema: StructuralSchema): Check[] {
  const format = enforcedFormat(schema);
  const { type } = schema;
  if (schema["x-kubernetes-int-or-string"] === true) {
    return [(value) => typeof value === "string" || isIntegral(value)];
  }
  switch (type) {
    case undefined:
      // A format without a type is for strings; lists pass.
      return format === "" ? [] : [(value) => typeof value === "string" || isJsonArray(value)];
    case "string":
      return format === ""
        ? [(value) => typeof value === "string"]
        : [(value) => typeof value === "string" || isJsonArray(value)];
    case "boolean":
      return [(value) => typeof value === "boolean"];
    case "integer":
      return [isIntegral];
    case "number":
      return [
        (value) =>
          typeof value === "number" || typeof value === "bigint" || value instanceof JsonNumber,
      ];
    case "array":
      return [(value) => Array.isArray(value)];
    case "object":
      return [(value) => isJsonObject(value)];
  }
  return [() => false]; // A type that nobody knows: no value has it.
}

function isIntegral(value: Json): boolean {
  if (Number.isSafeInteger(value) || typeof value === "bigint") return true;
  return kindOf(value) === "number" && isIntegralFloat(floatOf(value));
}

function compileCombinations({ allOf, anyOf, oneOf, not }: StructuralSchema): Check[] {
  const parts: Check[] = [];
  for (const part of allOf ?? []) parts.push(compileCheck(part));
  if (anyOf !== undefined && anyOf.length > 0) {
    const checks = anyOf.map(compileCheck);
    parts.push((value) => checks.some((check) => check(value)));
  }
  if (oneOf !== undefined && oneOf.length > 0) {
    const checks = oneOf.map(compileCheck);
    parts.push((value) => checks.filter((check) => check(value)).length === 1);
  }
  if (not !== undefined) {
    const check = compileCheck(not);
    parts.push((value) => !check(value));
  }
  return parts;
}

function compileString(schema: StructuralSchema): Check[] {
  const { maxLength, minLength, pattern } = schema;
  const parts: ((text: string) => boolean)[] = [];
  if (maxLength !== undefined) parts.push((text) => characterCount(text) <= maxLength);
  if (minLength !== undefined) parts.push((text) => characterCount(text) >= minLength);
  if (pattern !== undefined && pattern !== "") {
    const { matches } = patternOf(pattern);
    parts.push(matches ?? (() => false));
  }
  const format = formatCheck(enforcedFormat(schema));
  if (format !== undefined) parts.push(format);
  if (parts.length === 0) return [];
  return [(value) => typeof value !== "string" || parts.every((part) => part(value))];
}

function compileNumber(schema: StructuralSchema): Check[] {
  const { multipleOf, minimum, maximum, type } = schema;
  const isLimited = multipleOf !== undefined || minimum !== undefined || maximum !== undefined;
  if (!isLimited && type !== "integer" && !(type === "number" && schema.format === "float")) {
    return [];
  }
  const bounds = schema.format === "int32" ? 2 ** 31 : Number.MAX_SAFE_INTEGER;
  return [
    (value) => {
      if (!isLimited && typeof value === "number" && Number.isSafeInteger(value)) {
        if (value < bounds && value >= -bounds) return true;
      }
      const kind = kindOf(value);
      return (kind !== "integer" && kind !== "number") || isNumberAllowed(schema, value);
    },
  ];
}

function compileArray(schema: StructuralSchema): Check[] {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const isUnique = schema.uniqueItems === true;
  const check = items === undefined ? undefined : compileCheck(items);
  if (check === undefined && minItems === 0 && maxItems === Infinity && !isUnique) return [];
  return [
    (value) => {
      if (!isJsonArray(value)) return true;
      if (value.length < minItems || value.length > maxItems) return false;
      if (check !== undefined) {
        for (const item of value) if (!check(item)) return false;
      }
      return !isUnique || !hasDuplicates(value);
    },
  ];
}

function compileEnum(schema: StructuralSchema): Check[] {
  const allowed = enumerationOf(schema);
  if (allowed === undefined) return [];
  const texts = new Set(schema.enum);
  return [(value) => (typeof value === "string" ? texts.has(value) : allowed.has(value))];
}

function compileObject(schema: StructuralSchema): Check[] {
  const { additionalProperties, minProperties = 0, maxProperties = Infinity } = schema;
  const properties = new Map<string, Check>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    properties.set(name, compileCheck(property));
  }
  const others =
    additionalProperties === false
      ? () => false
      : typeof additionalProperties === "object"
        ? compileCheck(additionalProperties)
        : undefined;
  const required = schema.required ?? [];
  const isCounted = minProperties > 0 || maxProperties < Infinity;
  if (properties.size === 0 && others === undefined && required.length === 0 && !isCounted) {
    return [];
  }
  const membersValid = (object: JsonObject): boolean => {
    const keys = Object.keys(object);
    if (isCounted && (keys.length < minProperties || keys.length > maxProperties)) return false;
    for (const key of keys) {
      const check = properties.get(key) ?? others;
      if (check !== undefined && !check(object[key] ?? null)) return false;
    }
    for (const name of required) if (!Object.hasOwn(object, name)) return false;
    return true;
  };
  return [(value) => typeof value !== "object" || !isJsonObject(value) || membersValid(value)];
}
