// Functions: what they take, what they give, and how.

import type { CelType } from "./cel-type.ts";
import type { Spend } from "./equality.ts";
import type { Value } from "./values.ts";

/** One way to call a function. A receiver is the first of the parameters. */
export interface Overload {
  readonly name: string;
  readonly isMethod: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly run: (args: readonly Value[], spend: Spend) => Value;
}

type Run = Overload["run"];

export function fn(name: string, params: readonly CelType[], result: CelType, run: Run): Overload {
  return { name, isMethod: false, params, result, run };
}

export function method(
  name: string,
  params: readonly CelType[],
  result: CelType,
  run: Run,
): Overload {
  return { name, isMethod: true, params, result, run };
}

export const paramA: CelType = { kind: "param", name: "A" };
export const paramB: CelType = { kind: "param", name: "B" };

/** The cost of reading a text: a tenth per character, as the real server counts. */
export function textCost(...texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return Math.ceil(length / 10);
}
