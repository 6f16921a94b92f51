// Operators and comparisons.

import { CelError } from "./cel-error.ts";
import { compare, concat, contains, equal } from "./equality.ts";
import { fn, paramA, paramB, type Overload } from "./overload.ts";
import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  optionalOf,
  string,
  timestamp,
  uint,
  type CelType,
} from "./cel-type.ts";
import type { List, ValueMap } from "./values.ts";
import { Duration, Optional, Timestamp, Uint, type Value } from "./values.ts";

function checkedInt(value: bigint): bigint {
  if (value !== BigInt.asIntN(64, value)) throw new CelError("integer overflow");
  return value;
}

function checkedUint(value: bigint): Uint {
  if (value !== BigInt.asUintN(64, value)) throw new CelError("unsigned integer overflow");
  return new Uint(value);
}

function checkedDuration(nanos: bigint): Duration {
  if (nanos !== BigInt.asIntN(64, nanos)) throw new CelError("duration overflow");
  return new Duration(nanos);
}

const instantMin = -62_135_596_800_000_000_000n;
const instantMax = 253_402_300_799_999_999_999n;

function checkedTimestamp(nanos: bigint): Timestamp {
  if (nanos < instantMin || nanos > instantMax) throw new CelError("timestamp overflow");
  return new Timestamp(nanos);
}

type Int = bigint;

function integers(name: string, run: (a: Int, b: Int) => Int): Overload[] {
  return [
    fn(name, [int, int], int, ([a, b]) => checkedInt(run(a as Int, b as Int))),
    fn(name, [uint, uint], uint, ([a, b]) =>
      checkedUint(run((a as Uint).value, (b as Uint).value)),
    ),
  ];
}

function doubles(name: string, run: (a: number, b: number) => number): Overload {
  return fn(name, [double, double], double, ([a, b]) => run(a as number, b as number));
}

function nonZero(divisor: Int, message: string): Int {
  if (divisor === 0n) throw new CelError(message);
  return divisor;
}

const nanosOf = (value: Value | undefined): bigint => (value as Duration | Timestamp).nanos;
const text = (value: Value | undefined): string => value as string;

const sums: readonly Overload[] = [
  ...integers("_+_", (a, b) => a + b),
  doubles("_+_", (a, b) => a + b),
  fn("_+_", [string, string], string, ([a, b], spend) => {
    spend(Math.ceil((text(a).length + text(b).length) / 10));
    return text(a) + text(b);
  }),
  fn("_+_", [bytes, bytes], bytes, ([a, b]) => {
    const left = a as Uint8Array;
    const right = b as Uint8Array;
    const joined = new Uint8Array(left.length + right.length);
    joined.set(left);
    joined.set(right, left.length);
    return joined;
  }),
  fn("_+_", [listOf(paramA), listOf(paramA)], listOf(paramA), ([a, b], spend) =>
    concat(a as List, b as List, spend),
  ),
  fn("_+_", [duration, duration], duration, ([a, b]) => checkedDuration(nanosOf(a) + nanosOf(b))),
  fn("_+_", [timestamp, duration], timestamp, ([a, b]) =>
    checkedTimestamp(nanosOf(a) + nanosOf(b)),
  ),
  fn("_+_", [duration, timestamp], timestamp, ([a, b]) =>
    checkedTimestamp(nanosOf(a) + nanosOf(b)),
  ),
  ...integers("_-_", (a, b) => a - b),
  doubles("_-_", (a, b) => a - b),
  fn("_-_", [duration, duration], duration, ([a, b]) => checkedDuration(nanosOf(a) - nanosOf(b))),
  fn("_-_", [timestamp, duration], timestamp, ([a, b]) =>
    checkedTimestamp(nanosOf(a) - nanosOf(b)),
  ),
  fn("_-_", [timestamp, timestamp], duration, ([a, b]) => checkedDuration(nanosOf(a) - nanosOf(b))),
  ...integers("_*_", (a, b) => a * b),
  doubles("_*_", (a, b) => a * b),
  ...integers("_/_", (a, b) => a / nonZero(b, "division by zero")),
  doubles("_/_", (a, b) => a / b),
  ...integers("_%_", (a, b) => a % nonZero(b, "modulus by zero")),
  fn("-_", [int], int, ([a]) => checkedInt(-(a as Int))),
  fn("-_", [double], double, ([a]) => -(a as number)),
  fn("!_", [bool], bool, ([a]) => a !== true),
];

const ordered: readonly CelType[] = [bool, int, uint, double, string, bytes, duration, timestamp];
const numeric: readonly CelType[] = [int, uint, double];
const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  "_<_": (order) => order < 0,
  "_<=_": (order) => order <= 0,
  "_>_": (order) => order > 0,
  "_>=_": (order) => order >= 0,
};

const orders: readonly Overload[] = Object.entries(comparisons).flatMap(([name, holds]) => [
  ...ordered.map((type) => fn(name, [type, type], bool, compared(holds))),
  ...numeric.flatMap((left) =>
    numeric
      .filter((right) => right !== left)
      .map((right) => fn(name, [left, right], bool, compared(holds))),
  ),
]);

function compared(holds: (order: number) => boolean): Overload["run"] {
  return ([a, b], spend) => {
    if (typeof a === "string" && typeof b === "string") {
      spend(Math.ceil(Math.min(a.length, b.length) / 10));
    }
    return holds(compare(a ?? null, b ?? null));
  };
}

const memberships: readonly Overload[] = [
  fn("_==_", [paramA, paramA], bool, ([a, b], spend) => equal(a ?? null, b ?? null, spend)),
  fn("_!=_", [paramA, paramA], bool, ([a, b], spend) => !equal(a ?? null, b ?? null, spend)),
  fn("@in", [paramA, listOf(paramA)], bool, ([a, b], spend) =>
    contains(b as List, a ?? null, spend),
  ),
  fn(
    "@in",
    [paramA, mapOf(paramA, paramB)],
    bool,
    ([a, b]) => (b as ValueMap).get(a ?? null) !== undefined,
  ),
];

function itemAt(list: List, index: Value): Value | undefined {
  const place = index instanceof Uint ? Number(index.value) : Number(index);
  if (!Number.isInteger(place) || place < 0 || place >= list.length) return undefined;
  return list.at(place);
}

function indexText(index: Value | undefined): string {
  if (index instanceof Uint) return String(index.value);
  return typeof index === "object" ? "" : String(index);
}

const indexes: readonly Overload[] = [
  fn("_[_]", [listOf(paramA), int], paramA, ([list, index]) => {
    const item = itemAt(list as List, index ?? null);
    if (item === undefined) throw new CelError(`index out of bounds: ${indexText(index)}`);
    return item;
  }),
  fn("_[_]", [mapOf(paramA, paramB), paramA], paramB, ([map, key]) => {
    const value = (map as ValueMap).get(key ?? null);
    if (value === undefined) throw new CelError(`no such key: ${indexText(key)}`);
    return value;
  }),
  fn(
    "_[?_]",
    [listOf(paramA), int],
    optionalOf(paramA),
    ([list, index]) => new Optional(itemAt(list as List, index ?? null)),
  ),
  fn(
    "_[?_]",
    [mapOf(paramA, paramB), paramA],
    optionalOf(paramB),
    ([map, key]) => new Optional((map as ValueMap).get(key ?? null)),
  ),
  ...["_[_]", "_[?_]"].flatMap(optionalIndexes),
];

/** An index into what may be absent: so may be what it finds. */
function optionalIndexes(name: string): Overload[] {
  return [
    fn(name, [optionalOf(listOf(paramA)), int], optionalOf(paramA), ([list, index]) => {
      const { value } = list as Optional;
      return new Optional(value === undefined ? undefined : itemAt(value as List, index ?? null));
    }),
    fn(name, [optionalOf(mapOf(paramA, paramB)), paramA], optionalOf(paramB), ([map, key]) => {
      const { value } = map as Optional;
      return new Optional(value === undefined ? undefined : (value as ValueMap).get(key ?? null));
    }),
  ];
}

export const operators: readonly Overload[] = [
  ...sums,
  ...orders,
  ...memberships,
  ...indexes,
  fn("dyn", [paramA], dyn, ([value]) => value ?? null),
];
