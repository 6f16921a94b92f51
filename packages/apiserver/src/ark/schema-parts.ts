// The pieces of which the schemas of the Ark kinds are made.

import { Type, type Static, type TSchema } from "typebox";

/** One of a few words. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  options: { readonly default?: NoInfer<Word>; readonly description?: string } = {},
) {
  return Type.Unsafe<Word>({ type: "string", enum: words, ...options });
}

/** An open map of texts. */
export const texts = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string" },
});

/** A map whose values are alike. */
export function mapOf<Value extends TSchema>(value: Value) {
  return Type.Unsafe<Record<string, Static<Value>>>({
    type: "object",
    additionalProperties: value,
  });
}

/** An object that may hold anything. */
export const openObject = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  "x-kubernetes-preserve-unknown-fields": true,
});

/** Anything at all. */
export function anything(description: string) {
  return Type.Unsafe<unknown>({ "x-kubernetes-preserve-unknown-fields": true, description });
}

export const someText = Type.String({ minLength: 1 });

/** As Go reads it: `90s`, `1h30m`, `0`. */
export function duration(
  options: { readonly default?: string; readonly description?: string } = {},
) {
  return Type.String({
    pattern: "^[-+]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$",
    ...options,
  });
}

const keyReference = Type.Object(
  {
    name: Type.Optional(Type.String()),
    key: Type.String(),
    optional: Type.Optional(Type.Boolean()),
  },
  { "x-kubernetes-map-type": "atomic" },
);
const queryParameterReference = Type.Object({ name: someText });

/** Where a value comes from, if it is not said. */
const valueSource = Type.Object({
  secretKeyRef: Type.Optional(keyReference),
  configMapKeyRef: Type.Optional(keyReference),
  serviceRef: Type.Optional(
    Type.Object({
      name: Type.String(),
      namespace: Type.Optional(Type.String()),
      port: Type.Optional(Type.String()),
      path: Type.Optional(Type.String()),
    }),
  ),
  queryParameterRef: Type.Optional(queryParameterReference),
});

/** A value, or where it comes from. */
export const value = Type.Object({
  value: Type.Optional(Type.String()),
  valueFrom: Type.Optional(valueSource),
});

/** A value with a name. */
export const parameter = Type.Object({
  name: someText,
  value: Type.Optional(Type.String()),
  valueFrom: Type.Optional(valueSource),
});

/** Another object, in this namespace unless it says otherwise. */
export const reference = Type.Object({
  name: someText,
  namespace: Type.Optional(Type.String()),
});

export const header = Type.Object({
  name: someText,
  value: Type.Object({
    value: Type.Optional(Type.String()),
    valueFrom: Type.Optional(
      Type.Object({
        secretKeyRef: Type.Optional(keyReference),
        configMapKeyRef: Type.Optional(keyReference),
        queryParameterRef: Type.Optional(queryParameterReference),
      }),
    ),
  }),
});

const selectorRequirement = Type.Object({
  key: Type.String(),
  operator: Type.String(),
  values: Type.Optional(Type.Array(Type.String(), { "x-kubernetes-list-type": "atomic" })),
});

export const matchExpressions = Type.Array(selectorRequirement, {
  "x-kubernetes-list-type": "atomic",
});

export const labelSelector = Type.Object(
  { matchLabels: Type.Optional(texts), matchExpressions: Type.Optional(matchExpressions) },
  { "x-kubernetes-map-type": "atomic" },
);

export const override = Type.Object({
  resourceType: oneOf(["model", "mcpserver"]),
  headers: Type.Array(header, { minItems: 1 }),
  labelSelector: Type.Optional(labelSelector),
});

export const approval = Type.Object({
  required: Type.Optional(Type.Boolean()),
  timeout: Type.Optional(duration()),
  onTimeout: Type.Optional(oneOf(["reject", "proceed"], { default: "reject" })),
  argumentMatches: Type.Optional(
    Type.Array(Type.Object({ argument: Type.String(), pattern: Type.String() })),
  ),
});

const condition = Type.Object({
  lastTransitionTime: Type.String({ format: "date-time" }),
  message: Type.String({ maxLength: 32768 }),
  observedGeneration: Type.Optional(Type.Integer({ format: "int64", minimum: 0 })),
  reason: Type.String({
    minLength: 1,
    maxLength: 1024,
    pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
  }),
  status: oneOf(["True", "False", "Unknown"]),
  type: Type.String({
    maxLength: 316,
    pattern:
      "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
  }),
});

/** What is true of an object, one entry for each type. */
export const conditions = Type.Array(condition, {
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
});

const count = Type.Optional(Type.Integer({ format: "int64" }));

export const tokenUsage = Type.Object({
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
});
