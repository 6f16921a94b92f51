// Validation as the real server does it, step by step: which errors, in which words, and which alternative of
// an `anyOf` it thinks was meant. Slower than `check.ts`, which says only whether there are any.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { numberProblems } from "./number-rules.ts";
import { Outcome, type Problem } from "./outcome.ts";
import { enforcedFormat, formatCheck } from "./formats.ts";
import type { Correlation } from "./correlation.ts";
import {
  invalidField,
  notSupportedField,
  requiredField,
  tooLongField,
  tooManyField,
  typeInvalidField,
} from "../status/field-error.ts";
import { quote } from "../go-text/quote.ts";
import { enumerationOf } from "./enumeration.ts";
import { identityOf } from "./identity.ts";
import { floatOf, isIntegralFloat, kindOf } from "./go-value.ts";
import { patternOf } from "./pattern-cache.ts";
import { characterCount } from "./character-count.ts";
import type { StructuralSchema } from "./structural.ts";

/** Everything wrong with a value, beside its old value where there is one to compare with. */
export function report(
  schema: StructuralSchema,
  value: Json,
  path: string,
  correlation?: Correlation,
): Outcome {
  const outcome = new Outcome();
  if (value === null) {
    outcome.merge(typeOutcome(schema, value, path));
    outcome.addAll(enumProblems(schema, value, path));
    return outcome;
  }

  const kind = kindOf(value);
  if (typesOf(schema).length > 0 || enforcedFormat(schema) !== "") {
    outcome.merge(typeOutcome(schema, value, path));
    outcome.matches++;
  }
  outcome.merge(combinationOutcome(schema, value, path));
  outcome.matches++;
  if (typeof value === "string") {
    outcome.addAll(stringProblems(schema, value, path));
    outcome.matches++;
    const format = enforcedFormat(schema);
    const check = formatCheck(format);
    if (check !== undefined) {
      if (!check(value)) outcome.add(typeProblem(path, format, value));
      outcome.matches++;
    }
  } else if (kind === "integer" || kind === "number") {
    outcome.addAll(numberProblems(schema, value, path));
    outcome.matches += 2;
  } else if (isJsonArray(value)) {
    outcome.merge(itemsOutcome(schema, value, path, correlation));
    outcome.matches++;
  }
  outcome.addAll(enumProblems(schema, value, path));
  outcome.matches++;
  if (isJsonObject(value)) {
    outcome.merge(membersOutcome(schema, value, path, correlation));
    outcome.matches++;
  }
  outcome.matches++;
  return outcome;
}

/** As `report`, but what equals its old value is not refused. */
export function reportRatcheted(
  correlation: Correlation,
  schema: StructuralSchema,
  path: string,
): Outcome {
  const outcome = report(schema, correlation.value, path, correlation);
  if (outcome.problems.length > 0 && correlation.isEqual()) outcome.forgive();
  return outcome;
}

function typesOf(schema: StructuralSchema): readonly string[] {
  if (schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

/** A value of the wrong type; `found` names what was there instead, or is the text that misses a format. */
function typeProblem(path: string, wanted: string, found: string): Problem {
  const message = `${path} in body must be of type ${wanted}: ${quote(found)}`;
  return { message, name: path, at: (field) => typeInvalidField(field, found, message) };
}

function typeOutcome(schema: StructuralSchema, value: Json, path: string): Outcome {
  const outcome = new Outcome();
  const types = typesOf(schema);
  const kind = kindOf(value);
  if (kind === "null") {
    if (types.length > 0 && schema.nullable !== true) {
      outcome.add(typeProblem(path, types.join(","), "null"));
    } else {
      outcome.matches++;
    }
    return outcome;
  }
  const format = enforcedFormat(schema);
  const isText = kind === "string" || kind === "array";
  const isNumeric = types.includes("number") || types.includes("integer");
  const isRight =
    types.includes(kind) ||
    (kind === "number" && types.includes("integer") && isIntegralFloat(floatOf(value))) ||
    (kind === "integer" && types.includes("number"));
  const found = kind === "integer" ? "int64" : kind === "number" ? "float64" : "";
  if (!isText && format !== "" && !isRight && found !== format) {
    outcome.add(typeProblem(path, format, found));
  } else if (isRight || (!isNumeric && format !== "" && isText)) {
    // A list passes for a string with a format here; the real server lets it pass too.
    outcome.matches++;
  } else {
    outcome.add(typeProblem(path, types.join(","), kind));
  }
  return outcome;
}

function plainProblem(message: string): Problem {
  return { message, name: "", at: (field) => invalidField(field, "", message), isGeneral: true };
}

/** Alternatives are judged as if the value were new, even where it has not changed. */
function combinationOutcome(schema: StructuralSchema, value: Json, path: string): Outcome {
  const outcome = new Outcome();
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) {
    let best: Outcome | undefined;
    for (const alternative of anyOf) {
      const tried = report(alternative, value, path);
      if (tried.problems.length === 0) {
        best = tried;
        break;
      }
      if (best === undefined || tried.matches > best.matches) best = tried;
    }
    if (best !== undefined && best.problems.length > 0) {
      outcome.add(plainProblem(`${quote(path)} must validate at least one schema (anyOf)`));
    }
    if (best !== undefined) outcome.merge(best);
  }
  if (oneOf.length > 0) outcome.merge(oneOfOutcome(oneOf, value, path));
  if (allOf.length > 0) {
    let valid = 0;
    for (const part of allOf) {
      const tried = report(part, value, path);
      if (tried.problems.length === 0) valid++;
      outcome.merge(tried);
    }
    if (valid !== allOf.length) {
      const none = valid === 0 ? ". None validated" : "";
      outcome.add(plainProblem(`${quote(path)} must validate all the schemas (allOf)${none}`));
    }
  }
  if (not !== undefined && report(not, value, path).problems.length === 0) {
    outcome.add(plainProblem(`${quote(path)} must not validate the schema (not)`));
  }
  outcome.matches++;
  return outcome;
}

function oneOfOutcome(oneOf: readonly StructuralSchema[], value: Json, path: string): Outcome {
  const outcome = new Outcome();
  let best: Outcome | undefined;
  let valid: Outcome | undefined;
  let count = 0;
  for (const alternative of oneOf) {
    const tried = report(alternative, value, path);
    if (tried.problems.length === 0) {
      count++;
      valid ??= tried;
      best = undefined;
    } else if (count === 0 && (best === undefined || tried.matches > best.matches)) {
      best = tried;
    }
  }
  if (count === 1) return valid ?? outcome;
  const found = count === 0 ? "Found none valid" : `Found ${count} valid alternatives`;
  outcome.add(
    plainProblem(`${quote(path)} must validate one and only one schema (oneOf). ${found}`),
  );
  if (best !== undefined) outcome.merge(best);
  return outcome;
}

/** At most one: the real server stops at the first. */
function stringProblems(schema: StructuralSchema, value: string, path: string): Problem[] {
  const { maxLength, minLength, pattern = "" } = schema;
  if (maxLength !== undefined && characterCount(value) > maxLength) {
    const message = `${path} in body should be at most ${maxLength} chars long`;
    return [{ message, name: path, at: (field) => tooLongField(field, maxLength) }];
  }
  if (minLength !== undefined && characterCount(value) < minLength) {
    const message = `${path} in body should be at least ${minLength} chars long`;
    return [{ message, name: path, at: (field) => invalidField(field, value, message) }];
  }
  if (pattern === "") return [];
  const compiled = patternOf(pattern);
  if (compiled.matches?.(value) === true) return [];
  const why =
    compiled.error === undefined
      ? pattern
      : `${pattern}, but pattern is invalid: ${compiled.error}`;
  const message = `${path} in body should match '${why}'`;
  return [{ message, name: path, at: (field) => invalidField(field, value, message) }];
}

function enumProblems(schema: StructuralSchema, value: Json, path: string): Problem[] {
  const allowed = enumerationOf(schema);
  if (allowed === undefined || allowed.has(value)) return [];
  const message = `${path} in body should be one of [${allowed.text}]`;
  return [{ message, name: path, at: (field) => notSupportedField(field, value, allowed.texts) }];
}

function itemsOutcome(
  schema: StructuralSchema,
  value: readonly Json[],
  path: string,
  correlation: Correlation | undefined,
): Outcome {
  const outcome = new Outcome();
  const { items, minItems, maxItems } = schema;
  const size = value.length;
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      const itemPath = `${path}[${index}]`;
      const known = correlation?.item(index, itemPath);
      outcome.merge(
        known === undefined
          ? report(items, item, itemPath)
          : reportRatcheted(known, items, itemPath),
      );
      if (outcome.isFull) break;
    }
  }
  if (minItems !== undefined && size < minItems) {
    const message = `${path} in body should have at least ${minItems} items`;
    outcome.add({ message, name: path, at: (field) => invalidField(field, size, message) });
  }
  if (maxItems !== undefined && size > maxItems) {
    const message = `${path} in body should have at most ${maxItems} items`;
    outcome.add({ message, name: path, at: (field) => tooManyField(field, size, maxItems) });
  }
  if (schema.uniqueItems === true && hasDuplicates(value)) {
    const message = `${path} in body shouldn't contain duplicates`;
    outcome.add({ message, name: path, at: (field) => invalidField(field, "", message) });
  }
  outcome.matches++;
  return outcome;
}

/** Whether two items are equal. */
export function hasDuplicates(items: readonly Json[]): boolean {
  return new Set(items.map((item) => identityOf(item))).size < items.length;
}

function membersOutcome(
  schema: StructuralSchema,
  value: JsonObject,
  path: string,
  correlation: Correlation | undefined,
): Outcome {
  const outcome = new Outcome();
  const { properties = {}, additionalProperties, minProperties, maxProperties } = schema;
  // To list the members takes long where there are many.
  if (!asksForMembers(schema)) return outcome;
  const keys = Object.keys(value);
  const size = keys.length;
  if (minProperties !== undefined && size < minProperties) {
    const message = `${path} in body should have at least ${minProperties} properties`;
    outcome.add({ message, name: path, at: (field) => invalidField(field, size, message) });
  }
  if (maxProperties !== undefined && size > maxProperties) {
    const message = `${path} in body should have at most ${maxProperties} properties`;
    outcome.add({ message, name: path, at: (field) => tooManyField(field, size, maxProperties) });
  }

  const member = (part: StructuralSchema, key: string, keyPath: string): Outcome => {
    const known = correlation?.field(key, keyPath);
    const isTypeMeta = correlation?.path === "" && (key === "kind" || key === "apiVersion");
    if (known === undefined || isTypeMeta) {
      return report(part, value[key] ?? null, keyPath);
    }
    return reportRatcheted(known, part, keyPath);
  };

  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property !== undefined) {
      outcome.merge(member(property, key, path === "" ? key : `${path}.${key}`));
    } else if (additionalProperties === false) {
      const message = `${path}.${key} in body is a forbidden property`;
      outcome.add({ message, name: path, at: (field) => invalidField(field, key, message) });
    } else if (typeof additionalProperties === "object") {
      outcome.merge(member(additionalProperties, key, `${path}.${key}`));
    }
    if (outcome.isFull) break;
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(value, key)) continue;
    const name = `${path}.${key}`;
    outcome.add({
      message: `${name} in body is required`,
      name,
      at: (field) => requiredField(field),
    });
  }
  return outcome;
}

function asksForMembers(schema: StructuralSchema): boolean {
  const { properties, additionalProperties, minProperties, maxProperties, required } = schema;
  return (
    properties !== undefined ||
    additionalProperties !== undefined ||
    minProperties !== undefined ||
    maxProperties !== undefined ||
    required !== undefined
  );
}
