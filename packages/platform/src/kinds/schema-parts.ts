// The pieces of which the schemas of both kinds are made.

import type { ValidationRule } from "@keelson/kube";
import { Type, type Static, type TObject, type TProperties, type TSchema } from "typebox";

/** An object. Whoever writes one may leave out what has a default; whoever reads one finds it there. */
export function object<Properties extends TProperties>(
  properties: Properties,
  options: {
    readonly description?: string;
    readonly default?: object;
    readonly rules?: readonly ValidationRule[];
  } = {},
) {
  const { rules = [], ...others } = options;
  const { required = [], ...whole } = Type.Object(properties) as { required?: readonly string[] };
  const wanted = required.filter((name) => !("default" in (properties[name] ?? {})));
  return Type.Unsafe<Static<TObject<Properties>>>({
    ...whole,
    ...(wanted.length === 0 ? {} : { required: wanted }),
    ...others,
    ...validations(rules),
  });
}

/** One of a few words. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  options: { readonly description?: string; readonly default?: NoInfer<Word> } = {},
  ...rules: readonly ValidationRule[]
) {
  return Type.Unsafe<Word>({ type: "string", enum: words, ...options, ...validations(rules) });
}

/** Text that must match, and of which a reader of the refusal learns what it should be. */
export function text(
  options: {
    readonly description?: string;
    readonly minLength?: number;
    readonly maxLength: number;
    readonly pattern?: string;
    readonly default?: string;
  },
  ...rules: readonly ValidationRule[]
) {
  return Type.String({ ...options, ...validations(rules) });
}

export function integer(
  options: {
    readonly description?: string;
    readonly minimum: number;
    readonly maximum?: number;
    readonly default?: number;
  },
  ...rules: readonly ValidationRule[]
) {
  return Type.Integer({ format: "int64", ...options, ...validations(rules) });
}

function validations(rules: readonly ValidationRule[]): Record<string, unknown> {
  return rules.length === 0 ? {} : { "x-kubernetes-validations": rules };
}

/** A list in which `keys` name an item. */
export function mapList<Item extends TSchema>(
  item: Item,
  {
    keys,
    ...others
  }: {
    readonly keys: readonly string[];
    readonly description?: string;
    readonly maxItems?: number;
  },
) {
  return Type.Unsafe<readonly Static<Item>[]>({
    type: "array",
    items: item,
    ...others,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
  });
}

/** A list in which nothing stands twice. */
export function setOf<Item extends TSchema>(
  item: Item,
  options: { readonly description: string; readonly maxItems: number },
) {
  return Type.Unsafe<readonly Static<Item>[]>({
    type: "array",
    items: item,
    ...options,
    "x-kubernetes-list-type": "set",
    default: [],
  });
}

/** Said once, and never changed. */
export const immutable: ValidationRule = {
  rule: "self == oldSelf",
  message: "cannot be changed: delete the object and create it anew",
};
