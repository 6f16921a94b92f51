// Which stored item of a list a sent one goes on from. The index does not tell: who takes out the first of two must not
// give its secret to the second.

import { isJsonArray, isJsonObject, jsonEqual, writeJson, type Json } from "@keelson/base";

export interface ItemsOptions {
  /** Of everything that is compared, so that nothing is looked at twice. */
  readonly shapes: Shapes;
  /** Whether the whole list is below a secret key. */
  readonly isSecret: boolean;
}

/** Members by which an item that was changed is known again. */
const names = ["name", "id"];

/**
 * For each item that was sent the stored one that it goes on from; undefined where there is none, or where nobody can
 * tell which. Items that are alike but for their secrets go on from each other, wherever they stand; then those of one
 * name; then, in lists of one length, those that stand in one place.
 */
export function formerItems(
  sent: readonly Json[],
  stored: readonly Json[],
  { shapes, isSecret }: ItemsOptions,
): readonly (Json | undefined)[] {
  const formers = new Map<number, number>();
  const taken = new Set<number>();
  const pair = (at: number, former: number): void => {
    formers.set(at, former);
    taken.add(former);
  };
  const isOneLength = sent.length === stored.length;

  const groups = (items: readonly Json[]) =>
    Map.groupBy(items.keys(), (at) => shapes.of(items[at] ?? null, isSecret));
  const storedGroups = groups(stored);
  for (const [shape, here] of groups(sent)) {
    const there = storedGroups.get(shape) ?? [];
    const [first] = there;
    if (here.length === there.length) here.forEach((at, n) => pair(at, there[n] ?? at));
    else if (isOneLength) {
      for (const at of new Set(here).intersection(new Set(there))) pair(at, at);
    } else if (first !== undefined && areSame(there.map((at) => stored[at] ?? null))) {
      for (const at of here) pair(at, first);
    }
  }

  for (const name of names) {
    const known = onlyOnes(stored, name, (at) => !taken.has(at));
    for (const [text, at] of onlyOnes(sent, name, (at) => !formers.has(at))) {
      const former = known.get(text);
      if (former !== undefined) pair(at, former);
    }
  }
  if (isOneLength) {
    for (const at of sent.keys()) if (!formers.has(at) && !taken.has(at)) pair(at, at);
  }
  return sent.map((_, at) => {
    const former = formers.get(at);
    return former === undefined ? undefined : stored[former];
  });
}

/** Where all are the same, it does not matter which of them is meant. */
function areSame([first = null, ...others]: readonly Json[]): boolean {
  return others.every((other) => jsonEqual(first, other));
}

/** The items whose `name` no other has, by it, among those that count. */
function onlyOnes(
  items: readonly Json[],
  name: string,
  counts: (at: number) => boolean,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const several = new Set<string>();
  for (const [at, item] of items.entries()) {
    const text = isJsonObject(item) && Object.hasOwn(item, name) ? item[name] : undefined;
    if (typeof text !== "string" || !counts(at)) continue;
    if (found.has(text)) several.add(text);
    found.set(text, at);
  }
  for (const text of several) found.delete(text);
  return found;
}

/**
 * A number for each value, the same for those that are alike but for their secrets and the order of their members. A
 * value is written by the numbers of its parts, so that all of them cost what the whole is long, however deep it is.
 */
export class Shapes {
  readonly #isSecretKey: (key: string) => boolean;
  readonly #numbers = new Map<string, number>();
  readonly #known = new WeakMap<object, number>();

  /** Texts below such keys are secret. */
  constructor(isSecretKey: (key: string) => boolean) {
    this.#isSecretKey = isSecretKey;
  }

  of(value: Json, isSecret: boolean): number {
    if (typeof value !== "object" || value === null) return this.#number(scalar(value, isSecret));
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const number = this.#number(this.#text(value, isSecret));
    this.#known.set(value, number);
    return number;
  }

  #number(text: string): number {
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }

  #text(value: Json, isSecret: boolean): string {
    if (isJsonArray(value)) return `[${value.map((item) => this.of(item, isSecret)).join()}]`;
    if (!isJsonObject(value)) return scalar(value, isSecret);
    const members = Object.keys(value)
      .sort()
      .map((key) => {
        const inner = isSecret || this.#isSecretKey(key);
        return `${JSON.stringify(key)}:${this.of(value[key] ?? null, inner)}`;
      });
    return `{${members.join()}}`;
  }
}

function scalar(value: Json, isSecret: boolean): string {
  return typeof value === "string" && isSecret ? "secret" : writeJson(value);
}
