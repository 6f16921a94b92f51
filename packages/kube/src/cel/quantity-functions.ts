// Functions of quantities: `500m`, `1Gi`.

import { BadQuantity, parseQuantity, scaledValue } from "../quantity/quantity.ts";
import { CelError } from "./cel-error.ts";
import { fn, method, type Overload } from "./overload.ts";
import { bool, double, int, quantity, string } from "./cel-type.ts";
import { QuantityValue } from "./values.ts";

const billion = 1_000_000_000n;

/** In billionths, the finest there is. Throws a `CelError` in the words of the real server. */
function readQuantity(text: string): QuantityValue {
  try {
    return new QuantityValue(scaledValue(parseQuantity(text), -9));
  } catch (error) {
    if (!(error instanceof BadQuantity)) throw error;
    throw new CelError(error.message, { cause: error });
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (!(error instanceof BadQuantity)) throw error;
    return false;
  }
}

const nanosOf = (value: unknown): bigint => (value as QuantityValue).nanos;
const isWhole = (nanos: bigint): boolean =>
  nanos % billion === 0n && nanos / billion === BigInt.asIntN(64, nanos / billion);

export const quantityFunctions: readonly Overload[] = [
  fn("quantity", [string], quantity, ([text]) => readQuantity(text as string)),
  fn("isQuantity", [string], bool, ([text]) => isQuantity(text as string)),
  // Not a method, unlike the others.
  fn("sign", [quantity], int, ([value]) => {
    const nanos = nanosOf(value);
    return nanos > 0n ? 1n : nanos < 0n ? -1n : 0n;
  }),
  method("isInteger", [quantity], bool, ([value]) => isWhole(nanosOf(value))),
  method("asInteger", [quantity], int, ([value]) => {
    const nanos = nanosOf(value);
    if (!isWhole(nanos)) throw new CelError("cannot convert value to integer");
    return nanos / billion;
  }),
  method("asApproximateFloat", [quantity], double, ([value]) => Number(nanosOf(value)) / 1e9),
  method("isGreaterThan", [quantity, quantity], bool, ([a, b]) => nanosOf(a) > nanosOf(b)),
  method("isLessThan", [quantity, quantity], bool, ([a, b]) => nanosOf(a) < nanosOf(b)),
  method("compareTo", [quantity, quantity], int, ([a, b]) => {
    const [left, right] = [nanosOf(a), nanosOf(b)];
    return left < right ? -1n : left > right ? 1n : 0n;
  }),
  ...(["add", "sub"] as const).flatMap((name): Overload[] => {
    const run = (a: bigint, b: bigint): QuantityValue =>
      new QuantityValue(name === "add" ? a + b : a - b);
    return [
      method(name, [quantity, quantity], quantity, ([a, b]) => run(nanosOf(a), nanosOf(b))),
      method(name, [quantity, int], quantity, ([a, b]) => run(nanosOf(a), (b as bigint) * billion)),
    ];
  }),
];
