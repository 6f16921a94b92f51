// Functions of lists.

import { CelError } from "./cel-error.ts";
import { compare, equal } from "./equality.ts";
import { method, paramA, type Overload } from "./overload.ts";
import { operators } from "./arithmetic.ts";
import {
  bool,
  bytes,
  double,
  duration,
  int,
  listOf,
  string,
  timestamp,
  uint,
  type CelType,
} from "./cel-type.ts";
import type { List } from "./values.ts";
import { Duration, Uint, type Value } from "./values.ts";

const ordered: readonly CelType[] = [int, uint, double, bool, string, bytes, duration, timestamp];
const summable: readonly (readonly [CelType, Value])[] = [
  [int, 0n],
  [uint, new Uint(0n)],
  [double, 0],
  [duration, new Duration(0n)],
];

function extreme(list: List, isBetter: (order: number) => boolean, name: string): Value {
  if (list.length === 0) throw new CelError(`${name} called on empty list`);
  let best = list.at(0);
  for (const item of list.toArray()) if (isBetter(compare(item, best))) best = item;
  return best;
}

function isSorted(list: List): boolean {
  for (let index = 1; index < list.length; index++) {
    if (compare(list.at(index - 1), list.at(index)) > 0) return false;
  }
  return true;
}

function add(type: CelType): Overload["run"] {
  const found = operators.find(
    ({ name, params }) => name === "_+_" && params[0] === type && params[1] === type,
  );
  if (found === undefined) throw new TypeError(`nothing adds ${type.kind}`);
  return found.run;
}

export const listFunctions: readonly Overload[] = [
  ...ordered.flatMap((type): Overload[] => [
    method("isSorted", [listOf(type)], bool, ([list], spend) => {
      spend((list as List).length);
      return isSorted(list as List);
    }),
    method("min", [listOf(type)], type, ([list], spend) => {
      spend((list as List).length);
      return extreme(list as List, (order) => order < 0, "min");
    }),
    method("max", [listOf(type)], type, ([list], spend) => {
      spend((list as List).length);
      return extreme(list as List, (order) => order > 0, "max");
    }),
  ]),
  ...summable.map(([type, zero]) =>
    method("sum", [listOf(type)], type, ([list], spend) => {
      spend((list as List).length);
      const plus = add(type);
      return (list as List).toArray().reduce<Value>((sum, item) => plus([sum, item], spend), zero);
    }),
  ),
  method("indexOf", [listOf(paramA), paramA], int, ([list, wanted], spend) =>
    BigInt((list as List).toArray().findIndex((item) => equal(item, wanted ?? null, spend))),
  ),
  method("lastIndexOf", [listOf(paramA), paramA], int, ([list, wanted], spend) =>
    BigInt((list as List).toArray().findLastIndex((item) => equal(item, wanted ?? null, spend))),
  ),
];
