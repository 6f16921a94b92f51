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
    return new Search().follow(this.#steps, [value]);
  }
}

/**
 * How many values one search may look at, on its way and at its end: each step may find from one value what it finds from
 * others again, and so may each part of a union. That must fill neither memory nor time.
 */
const looksMax = 300_000;
/** What has nothing in it costs less where it is only passed over. */
const emptyShare = 16;

/** One search, and how much it has looked at. */
class Search {
  #looks = 0;

  follow(steps: readonly Step[], values: readonly Json[]): Json[] {
    let current = [...values];
    for (const step of steps) current = this.#take(step, current);
    return current;
  }

  #look(count: number): void {
    this.#looks += count;
    if (this.#looks > looksMax) throw new JsonPathError("the path finds too much");
  }

  /** All that is found from each of the values. */
  #gather(values: readonly Json[], find: (value: Json) => readonly Json[]): Json[] {
    this.#look(values.length);
    const all: Json[] = [];
    for (const value of values) {
      const found = find(value);
      this.#look(found.length);
      for (const one of found) all.push(one);
    }
    return all;
  }

  #take(step: Step, values: readonly Json[]): Json[] {
    switch (step.op) {
      case "field":
        return this.#gather(values, (value) =>
          isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] ?? null] : [],
        );
      case "wildcard":
        return this.#gather(values, childrenOf);
      case "recurse":
        return this.#gather(values, (value) => this.#descendantsOf(value));
      case "slice":
        return this.#gather(values, (value) => sliced(value, step.bounds));
      case "union":
        return step.paths.flatMap((path) => this.follow(path, values));
      case "filter":
        return this.#gather(values, (value) => this.#filtered(value, step));
      case "value":
        return this.#gather(values, () => [step.value]);
      case "word":
        throw new JsonPathError(`unrecognized identifier ${step.word}`);
    }
  }

  /** The value and everything in it that has anything in it, outermost first. */
  #descendantsOf(value: Json): Json[] {
    const found: Json[] = [];
    const pending: Json[] = [value];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const children = childrenOf(next);
      if (children.length === 0) continue;
      found.push(next);
      this.#look(1 + children.length / emptyShare);
      for (const child of children.toReversed()) pending.push(child);
    }
    return found;
  }

  #filtered(value: Json, { left, operator, right }: Extract<Step, { op: "filter" }>): Json[] {
    if (!isJsonArray(value)) {
      throw new JsonPathError(`${kindOf(value)} is not array or slice and cannot be filtered`);
    }
    return value.filter((item) => {
      this.#look(1);
      const lefts = this.follow(left, [item]);
      if (operator === "exists") return lefts.length > 0;
      if (lefts.length === 0) return false;
      const rights = this.follow(right, [item]);
      if (rights.length === 0) return false;
      if (lefts.length > 1 || rights.length > 1) {
        throw new JsonPathError("can only compare one element at a time");
      }
      return holds(operator, lefts[0] ?? null, rights[0] ?? null);
    });
  }
}

function childrenOf(value: Json): readonly Json[] {
  if (isJsonArray(value)) return value;
  if (!isJsonObject(value)) return [];
  return Object.keys(value)
    .sort(compareBytes)
    .map((key) => value[key] ?? null);
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
  const items: Json[] = [];
  for (let at = start; at < end; at += step) items.push(value[at] ?? null);
  return items;
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
