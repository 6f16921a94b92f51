// Schemas become checks, and what a check finds becomes words about fields.

import type { FieldProblem } from "@keelson/base";
import { Ajv, type Options } from "ajv";
import addFormats from "ajv-formats";
import type { FastifySchemaCompiler, FastifySchemaValidationError as Finding } from "fastify";

/**
 * Checks of a route. A body is taken as it is: nothing coerced, nothing dropped. Parameters, queries and headers
 * are text, and become the numbers and booleans that their schema asks for. Defaults are filled in everywhere.
 */
export function routeValidators(): FastifySchemaCompiler<object> {
  const bodies = newAjv({ useDefaults: true });
  const texts = newAjv({ useDefaults: true, coerceTypes: "array" });
  return ({ schema, httpPart }) => (httpPart === "body" ? bodies : texts).compile(schema);
}

/** A check for data that is no request: all problems of a value, none if it is as the schema says. */
export function compileSchema(
  schema: object,
  { root }: { readonly root: string },
): (value: unknown) => readonly FieldProblem[] {
  const validate = newAjv({}).compile(schema);
  return (value) => (validate(value) ? [] : fieldProblems(validate.errors ?? [], root));
}

/** What a check found, as problems of fields; `root` is the name of the whole. Bounded, and each field once. */
export function fieldProblems(
  found: readonly Finding[],
  root: string,
): readonly [FieldProblem, ...FieldProblem[]] {
  const problems = new Map<string, FieldProblem>();
  for (const error of found) {
    const field = fieldOf(error) || root;
    // The first word about a field counts; branches of a union have more of them.
    if (!problems.has(field)) problems.set(field, { field, message: messageOf(error, found) });
    if (problems.size === problemsMax) break;
  }
  const [first = { field: root, message: "is not valid" }, ...others] = problems.values();
  return [first, ...others];
}

const problemsMax = 50;

function newAjv(options: Options): Ajv {
  const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, ...options });
  addFormats.default(ajv);
  return ajv;
}

/** `/changes/3/name` as `changes[3].name`, down to the member that is missing or too much. */
function fieldOf({ instancePath, params }: Finding): string {
  const { missingProperty, additionalProperty } = params;
  const member = missingProperty ?? additionalProperty;
  const parts = instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (typeof member === "string") parts.push(member);
  return parts
    .map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join("");
}

function messageOf(error: Finding, found: readonly Finding[]): string {
  const { keyword, params, message = "is not valid" } = error;
  switch (keyword) {
    case "required":
      return "is required";
    case "additionalProperties":
    case "unevaluatedProperties":
      return "is not a known field";
    case "enum":
      return `must be one of ${(params["allowedValues"] as unknown[]).map(String).join(", ")}`;
    case "const": {
      // TypeBox writes a closed set of words as a union of constants.
      const words = found
        .filter((one) => one.keyword === "const" && one.instancePath === error.instancePath)
        .map((one) => String(one.params["allowedValue"]));
      return `must be ${words.length === 1 ? words[0] : `one of ${words.join(", ")}`}`;
    }
    case "type": {
      const types = [params["type"]].flat().map(String);
      return `must be ${types.map((type) => articles[type] ?? type).join(" or ")}`;
    }
    case "minLength":
      return params["limit"] === 1 ? "must not be empty" : message;
    case "pattern":
      return `must match ${String(params["pattern"])}`;
    default:
      return message.replace(/^must NOT/, "must not");
  }
}

const articles: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};
