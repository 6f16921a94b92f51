// The object that Go makes of nothing: what every creation starts from, for managed fields.

import type { Json, JsonObject } from "@keelson/base";
import type { BuiltinKinds, FieldType, GoField, Scalar } from "@keelson/kube";

/** An object of a built-in type with the fields that are printed even when they are zero. */
export function emptyObject(kinds: BuiltinKinds, type: string): JsonObject {
  const object: Record<string, Json> = {};
  for (const field of kinds.structOf(type)?.fields ?? []) {
    if (field.isInline && field.type.form === "struct") {
      Object.assign(object, emptyObject(kinds, field.type.struct));
    } else if (field.isAlwaysPrinted) {
      object[field.name] = zeroOf(kinds, field);
    }
  }
  return object;
}

function zeroOf(kinds: BuiltinKinds, { type, isPointer }: GoField): Json {
  if (isPointer) return null;
  return zeroOfType(kinds, type);
}

function zeroOfType(kinds: BuiltinKinds, type: FieldType): Json {
  switch (type.form) {
    case "list":
    case "map":
      return null;
    case "scalar":
      return zeros[type.scalar];
    case "struct":
      return zeroOfStruct(kinds, type.struct);
  }
}

function zeroOfStruct(kinds: BuiltinKinds, name: string): Json {
  if (kinds.structOf(name)?.isOpaque !== true) return emptyObject(kinds, name);
  return Object.hasOwn(opaqueZeros, name) ? (opaqueZeros[name] ?? null) : null;
}

const zeros: Readonly<Record<Scalar, Json>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  uint8: 0,
  float64: 0,
  bytes: null,
  any: null,
};

/** Types with a form of their own; the others are null. */
const opaqueZeros: Readonly<Record<string, Json>> = {
  "intstr.IntOrString": 0,
  "meta.v1.Duration": "0s",
  "quantity.Quantity": "0",
};
