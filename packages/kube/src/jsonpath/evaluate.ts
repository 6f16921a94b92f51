// Following a path through a value.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";
import { compareBytes } from "../go-text/byte-order.ts";
import { floatOf, kindOf } from "../schema/go-value.ts";
import { JsonPathError, parseSteps, type Bound, type Step } from "./parse.ts";

/** A path, read once and followed many times. */
export class JsonPath {
  readonly #steps: readonly Step[];

  /** Reads a path as printer columns write it: `.status.phase`. Throws a `JsonPathError`. */
  constructor(text: string) {
    this.#steps = parseSteps(text);
  }

  /**
   * Everything the path leads to; nothing where a field is missing. Throws a `JsonPathError` where it asks for what
   * cannot be: an item beyond the end, a filter of what is no list. Fields of maps come in byte order.
   */
  find(value: Json): Json[] {
    return follow(this.#steps, [value]);
  }
}

/** What a path may find at most: `..` on a large object must not fill memory. */
const resultsMax = 100_000;

function follow(steps: readonly Step[], values: readonly Json[]): Json[] {
  let current = [...values];
  for (const step of steps) {
    current = take(step, current);
    if (current.length > resultsMax) throw tooMuch();
  }
  return current;
}

/** All that is found from each of the values. Ends as soon as it is too much: what is found from one may be found from others again. */
function gather(values: readonly Json[], find: (value: Json) => readonly Json[]): Json[] {
  const all: Json[] = [];
  for (const value of values) {
    for (const found of find(value)) all.push(found);
    if (all.length > resultsMax) throw tooMuch();
  }
  return all;
}

function tooMuch(): JsonPathError {
  return new JsonPathError("the path finds too much");
}

function take(step: Step, values: readonly Json[]): Json[] {
  switch (step.op) {
    case "field":
      return gather(values, (value) =>
        isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] ?? null] : [],
      );
    case "wildcard":
      return gather(values, childrenOf);
    case "recurse":
      return gather(values, descendantsOf);
    case "slice":
      return gather(values, (value) => sliced(value, step.bounds));
    case "union":
      return step.paths.flatMap((path) => follow(path, values));
    case "filter":
      return gather(values, (value) => filtered(value, step));
    case "value":
      return values.map(() => step.value);
    case "word":
      throw new JsonPathError(`unrecognized identifier ${step.word}`);
  }
}

function childrenOf(value: Json): Json[] {
  if (isJsonArray(value)) return [...value];
  if (!isJsonObject(value)) return [];
  return Object.keys(value)
    .sort(compareBytes)
    .map((key) => value[key] ?? null);
}

/** The value and everything in it that has anything in it, outermost first. */
function descendantsOf(value: Json): Json[] {
  const found: Json[] = [];
  const pending: Json[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const children = childrenOf(next);
    if (children.length === 0) continue;
    found.push(next);
    if (found.length > resultsMax) throw tooMuch();
    for (const child of children.reverse()) pending.push(child);
  }
  return found;
}

function sliced(value: Json, [first, second, third]: readonly [Bound, Bound, Bound]): Json[] {
  if (value === null) return [];
  if (!isJsonArray(value)) throw new JsonPathError(`${kindOf(value)} is not array or slice`);
  const { length } = value;
  const start = first.isKnown && first.value < 0 ? first.value + length : first.value;
  let end = second.isKnown ? second.value : length;
  if (end < 0 || (end === 0 && second.isDerived)) end += length;
  if (start === end) return [];
  if (start >= length || start < 0) {
    throw new JsonPathError(`array index out of bounds: index ${start}, length ${length}`);
  }
  if (end > length || end < 0) {
    throw new JsonPathError(`array index out of bounds: index ${end - 1}, length ${length}`);
  }
  if (start > end) {
    throw new JsonPathError(`starting index ${start} is greater than ending index ${end}`);
  }
  const step = third.isKnown ? third.value : 1;
  if (step <= 0) throw new JsonPathError("step must be > 0");
  return value.slice(start, end).filter((_item, index) => index % step === 0);
}

function filtered(value: Json, { left, operator, right }: Extract<Step, { op: "filter" }>): Json[] {
  if (!isJsonArray(value)) {
    throw new JsonPathError(`${kindOf(value)} is not array or slice and cannot be filtered`);
  }
  return value.filter((item) => {
    const lefts = follow(left, [item]);
    if (operator === "exists") return lefts.length > 0;
    if (lefts.length === 0) return false;
    const rights = follow(right, [item]);
    if (rights.length === 0) return false;
    if (lefts.length > 1 || rights.length > 1) {
      throw new JsonPathError("can only compare one element at a time");
    }
    return holds(operator, lefts[0] ?? null, rights[0] ?? null);
  });
}

function holds(operator: string, left: Json, right: Json): boolean {
  const order = compare(left, right);
  switch (operator) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case ">":
      return order > 0;
    case "<=":
      return order <= 0;
    case ">=":
      return order >= 0;
    default:
      throw new JsonPathError(`unrecognized filter operator ${operator}`);
  }
}

function compare(left: Json, right: Json): number {
  if (typeof left === "string" && typeof right === "string") return compareBytes(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  const kinds = [kindOf(left), kindOf(right)];
  if (kinds.every((kind) => kind === "integer" || kind === "number")) {
    if (kinds[0] !== kinds[1]) throw new JsonPathError("incompatible types for comparison");
    if (kinds[0] === "number") return floatOf(left) - floatOf(right);
    const [a, b] = [BigInt(left as number | bigint), BigInt(right as number | bigint)];
    return a < b ? -1 : Number(a > b);
  }
  throw new JsonPathError("incompatible types for comparison");
}
