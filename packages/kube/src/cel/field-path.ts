// The path of a field inside a schema, as rules and selectable fields name it: `.spec.x['y']`.

import { childPath, itemPath } from "../status/field-error.ts";
import type { StructuralSchema } from "../schema/structural.ts";

/** A path in the form of messages and the schema it leads to, or why it leads nowhere. */
type ResolvedPath =
  | { readonly path: string; readonly schema: StructuralSchema; readonly error?: undefined }
  | { readonly error: string };

/** The path of a rule's `fieldPath`, or nothing if it names no field of the schema. */
export function fieldPathOf(text: string, schema: StructuralSchema): string | undefined {
  const resolved = resolveFieldPath(text, schema, { allowBrackets: true });
  return resolved.error === undefined ? resolved.path : undefined;
}

/** Follows a path through a schema; brackets hold a name in single quotes. */
export function resolveFieldPath(
  text: string,
  schema: StructuralSchema,
  { allowBrackets }: { readonly allowBrackets: boolean },
): ResolvedPath {
  let place: { readonly path: string; readonly schema: StructuralSchema } = { path: "", schema };
  const tokens = tokensOf(text);
  for (let index = 0; index < tokens.length;) {
    const token = tokens[index];
    let name: string;
    if (token === ".") {
      const next = tokens[index + 1];
      if (next === undefined) return { error: "unexpected end of JSON path" };
      name = next;
      index += 2;
    } else if (token === "[") {
      if (!allowBrackets) return { error: "array notation is not allowed" };
      const quoted = tokens[index + 1];
      if (quoted === undefined) return { error: "unexpected end of JSON path" };
      if (!/^'.*'$/s.test(quoted) || quoted.length < 2) {
        return { error: `expected single quoted string but got ${quoted}` };
      }
      const unquoted = unescapeQuoted(quoted.slice(1, -1));
      if (unquoted === undefined) return { error: "invalid string literal: invalid escape char" };
      const close = tokens[index + 2];
      if (close === undefined) return { error: "unexpected end of JSON path" };
      if (close !== "]") return { error: `expected ] but got ${close}` };
      name = unquoted;
      index += 3;
    } else {
      return { error: `expected [ or . but got: ${token}` };
    }
    const next = step(place, name);
    if (next === undefined) return { error: "does not refer to a valid field" };
    place = next;
  }
  return place;
}

function step(
  { path, schema }: { readonly path: string; readonly schema: StructuralSchema },
  name: string,
): { readonly path: string; readonly schema: StructuralSchema } | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return property === undefined ? undefined : { path: childPath(path, name), schema: property };
  }
  if (additionalProperties === undefined) return undefined;
  const values = typeof additionalProperties === "object" ? additionalProperties : {};
  return { path: itemPath(path, name), schema: values };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  let index = 0;
  while (index < text.length) {
    const rest = text.slice(index);
    const token =
      /^(?:[.[\]]|'(?:\\.|[^'\\])*'|'.*$|[^.[\]]+)/s.exec(rest)?.[0] ?? rest.slice(0, 1);
    tokens.push(token);
    index += token.length;
  }
  return tokens;
}

const escapes: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

function unescapeQuoted(text: string): string | undefined {
  let isRight = true;
  const unescaped = text.replace(/\\(.)/gs, (_all, letter: string) => {
    const character = escapes[letter];
    if (character === undefined) isRight = false;
    return character ?? "";
  });
  return isRight ? unescaped : undefined;
}
