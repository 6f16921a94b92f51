// How the objects of a built-in kind are read, by their published schema.

import { cloneJson, type JsonObject, type MutableJsonObject } from "@keelson/base";
import { prune, type BuiltinKinds, type KindName } from "@keelson/kube";

export interface TypedKind {
  /** The object with known fields only, and the paths of the others. */
  decode(value: JsonObject): {
    readonly object: MutableJsonObject;
    readonly unknown: readonly string[];
  };
  applyDefaults(object: MutableJsonObject, options: { readonly now: string }): void;
}

export function typedKind(kinds: BuiltinKinds, name: KindName): TypedKind {
  const schema = kinds.schemaOf(kinds.find(name)?.type ?? "") ?? {};
  return {
    decode: (value) => {
      const object = cloneJson(value);
      return { object, unknown: prune(object, schema, { isObject: true }) };
    },
    applyDefaults: () => undefined,
  };
}
