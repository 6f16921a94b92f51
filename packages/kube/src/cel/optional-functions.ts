// Values that may be absent.

import { CelError } from "./cel-error.ts";
import { fn, method, paramA, type Overload } from "./overload.ts";
import { bool, optionalOf } from "./cel-type.ts";
import { Duration, List, Optional, Struct, Uint, ValueMap, type Value } from "./values.ts";

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Uint8Array || value instanceof List) return value.length === 0;
  if (value instanceof ValueMap) return value.entries.size === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  return value instanceof Struct && Object.keys(value.source).length === 0;
}

export const optionalFunctions: readonly Overload[] = [
  fn("optional.of", [paramA], optionalOf(paramA), ([value]) => new Optional(value)),
  fn("optional.none", [], optionalOf(paramA), () => new Optional(undefined)),
  fn(
    "optional.ofNonZeroValue",
    [paramA],
    optionalOf(paramA),
    ([value]) => new Optional(value === undefined || isZero(value) ? undefined : value),
  ),
  method(
    "hasValue",
    [optionalOf(paramA)],
    bool,
    ([value]) => (value as Optional).value !== undefined,
  ),
  method("value", [optionalOf(paramA)], paramA, ([value]) => {
    const { value: held } = value as Optional;
    if (held === undefined) throw new CelError("optional.none() dereference");
    return held;
  }),
  method("or", [optionalOf(paramA), optionalOf(paramA)], optionalOf(paramA), ([value, other]) =>
    (value as Optional).value === undefined ? (other ?? null) : (value ?? null),
  ),
  method(
    "orValue",
    [optionalOf(paramA), paramA],
    paramA,
    ([value, other]) => (value as Optional).value ?? other ?? null,
  ),
];
