// Functions of quantities: `500m`, `1Gi`.

import { CelError } from "./cel-error.ts";
import { fn, method, type Overload } from "./overload.ts";
import { bool, double, int, quantity, string } from "./cel-type.ts";
import { QuantityValue } from "./values.ts";

const pattern =
  /^([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(|[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,4})$/;
const decimals: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binaries = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const billion = 1_000_000_000n;

/** A quantity in billionths, rounded away from zero, or nothing if the text is none. */
export function parseQuantity(text: string): bigint | undefined {
  const match = pattern.exec(text);
  if (match === null || text.length > 400) return undefined;
  const [, sign = "", digits = "", suffix = ""] = match;
  const [whole = "", fraction = ""] = digits.split(".");
  let numerator = BigInt(`${whole}${fraction}` || "0") * billion;
  let denominator = 10n ** BigInt(fraction.length);
  const binary = binaries.indexOf(suffix);
  const exponent = binary >= 0 ? 0 : (decimals[suffix] ?? Number(suffix.slice(1)));
  if (binary >= 0) numerator *= 1024n ** BigInt(binary + 1);
  if (Math.abs(exponent) > 400) return undefined;
  if (exponent >= 0) numerator *= 10n ** BigInt(exponent);
  else denominator *= 10n ** BigInt(-exponent);
  const rounded = (numerator + denominator - 1n) / denominator;
  return sign === "-" ? -rounded : rounded;
}

const nanosOf = (value: unknown): bigint => (value as QuantityValue).nanos;
const isWhole = (nanos: bigint): boolean =>
  nanos % billion === 0n && nanos / billion === BigInt.asIntN(64, nanos / billion);

export const quantityFunctions: readonly Overload[] = [
  fn("quantity", [string], quantity, ([text]) => {
    const nanos = parseQuantity(text as string);
    if (nanos === undefined) {
      throw new CelError(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    }
    return new QuantityValue(nanos);
  }),
  fn("isQuantity", [string], bool, ([text]) => parseQuantity(text as string) !== undefined),
  method("sign", [quantity], int, ([value]) => {
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
