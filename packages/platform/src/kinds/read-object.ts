// Objects as the operator believes them: filled with their defaults and judged once more, since a cluster may have
// definitions of another day, or none.

import { cloneJson, type JsonObject } from "@keelson/base";
import {
  definitionOf,
  kindOfDefinition,
  prepareObject,
  printFieldError,
  validateObject,
  type DeclaredKind,
} from "@keelson/kube";

export interface ReadObject {
  readonly object: JsonObject;
  /** What is wrong with it, a sentence each. */
  readonly problems: readonly string[];
}

/** Reads objects of `kind`; make it once, since the schema is compiled. */
export function objectReader(kind: DeclaredKind): (given: JsonObject) => ReadObject {
  const { schema } = kindOfDefinition(definitionOf(kind), kind.version) ?? {};
  if (schema === undefined) throw new Error(`${kind.kind} has no schema`);
  return (given) => {
    const object = cloneJson(given);
    prepareObject(schema, object);
    const { errors } = validateObject(schema, object, {});
    return { object, problems: errors.map(printFieldError) };
  };
}
