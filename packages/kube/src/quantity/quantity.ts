// Amounts of resources: `500m`, `1Gi`, `2e3`.

import { JsonNumber, type Json } from "@keelson/base";
import { trimSpace } from "../go-text/trim-space.ts";

/** How an amount is written: with decimal or binary suffixes, or with an exponent. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** An exact amount: `unscaled` times ten to the power of `scale`. */
export interface Quantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  /** The text it was read from, where Kubernetes keeps that instead of the canonical one. */
  readonly text?: string;
}

/** A text that is no amount. The message is that of Kubernetes. */
export class BadQuantity extends Error {
  readonly code = "BAD_QUANTITY";

  constructor(message: string) {
    super(message);
    this.name = "BadQuantity";
  }
}

/** How far an exponent may be from zero, in either direction: what is beyond would cost memory without bound. */
export const exponentMax = 1_000;

const pattern = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
const formatWrong = `quantities must match the regular expression '${pattern}'`;
const suffixWrong = "unable to parse quantity's suffix";
const numberWrong = "unable to parse numeric part of quantity";

const decimalSuffixes: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const decimalOfExponent = new Map(
  [...decimalSuffixes].map(([suffix, exponent]) => [exponent, suffix]),
);
const binarySuffixes: readonly string[] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const nano = -9;
const int64Max = 2n ** 63n - 1n;

/** Reads an amount. What is finer than a billionth is rounded away from zero. Throws a `BadQuantity`. */
export function parseQuantity(text: string): Quantity {
  if (text === "0") return { unscaled: 0n, scale: 0, format: "DecimalSI", text };
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$/.exec(text);
  if (text === "" || match === null) throw new BadQuantity(formatWrong);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match;
  const { base, exponent, format } = interpretSuffix(suffix);
  // No digits at all are zero too, as in `m` or `+`.
  const digits = whole.replace(/^0+/, "") || "0";
  if (digits.length + fraction.length > digitsMax) throw new BadQuantity(numberWrong);
  const magnitude = BigInt(digits + fraction);
  const isNegative = sign === "-";
  const parts: Parts = { text, digits, fraction, magnitude, isNegative, base, exponent, format };
  const exact = readExactly(parts);
  if (exact !== undefined) return exact;
  // What is too fine or too large to be read exactly must have digits.
  if (whole === "" && fraction === "") throw new BadQuantity(numberWrong);
  return readRounded(parts);
}

/** The amount in canonical form, or as it was written where Kubernetes keeps that. */
export function printQuantity(quantity: Quantity): string {
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.unscaled === 0n) return "0";
  const binary = quantity.format === "BinarySI" ? printBinary(quantity) : undefined;
  return binary ?? printDecimal(quantity);
}

/** An amount in an object: a text, or a number that JSON allows there. Throws a `BadQuantity`. */
export function quantityFromJson(value: Json): Quantity {
  if (typeof value === "string") return parseQuantity(trimSpace(value));
  if (typeof value === "number" || typeof value === "bigint") return parseQuantity(String(value));
  if (value instanceof JsonNumber) return parseQuantity(value.text);
  throw new BadQuantity(formatWrong);
}

/** Negative, zero or positive, as `a` is less than, equal to or more than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const [left, right] = align(a, b);
  return left < right ? -1 : Number(left > right);
}

/** The sum, in the format of the first that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const [left, right, scale] = align(a, b);
  return { unscaled: left + right, scale, format: a.unscaled === 0n ? b.format : a.format };
}

/** The difference, in the format of the first that is not zero. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, unscaled: -b.unscaled });
}

/**
 * The amount in steps of ten to the power of `scale`, rounded away from zero; itself if it is no finer. Lists of
 * resources keep thousandths, `-3`.
 */
export function roundUpQuantity(quantity: Quantity, scale: number): Quantity {
  if (quantity.scale >= scale) return quantity;
  return { unscaled: scaledValue(quantity, scale), scale, format: quantity.format };
}

/** The amount in units of ten to the power of `scale`, rounded away from zero. */
export function scaledValue({ unscaled, scale }: Quantity, unit: number): bigint {
  if (scale >= unit) return unscaled * 10n ** BigInt(scale - unit);
  return divideUp(unscaled, 10n ** BigInt(unit - scale));
}

const digitsMax = 4_096;

interface Parts {
  readonly text: string;
  readonly digits: string;
  readonly fraction: string;
  readonly magnitude: bigint;
  readonly isNegative: boolean;
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function interpretSuffix(suffix: string): Pick<Parts, "base" | "exponent" | "format"> {
  const decimal = decimalSuffixes.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: "DecimalSI" };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: "BinarySI" };
  if (!/^[eE][+-]?\d+$/.test(suffix)) throw new BadQuantity(suffixWrong);
  const exponent = Number(suffix.slice(1));
  if (Math.abs(exponent) > exponentMax) throw new BadQuantity(numberWrong);
  return { base: 10, exponent, format: "DecimalExponent" };
}

/** Small amounts that fit an int64 are kept exactly, and often with their text. */
function readExactly(parts: Parts): Quantity | undefined {
  const { text, digits, fraction, magnitude, isNegative, base, exponent, format } = parts;
  const length = digits.length + fraction.length;
  const isShort =
    base === 10
      ? length <= 18
      : fraction === "" && 15 - digits.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
  const scale = (base === 10 ? exponent : 0) - fraction.length;
  const value = base === 10 ? magnitude : magnitude << BigInt(exponent);
  if (!isShort || scale < nano || value > int64Max) return undefined;
  const shifted = digits + fraction;
  const isKept =
    base === 10
      ? scale % 3 === 0 && !shifted.endsWith("000") && !shifted.startsWith("0")
      : (magnitude & 7n) !== 0n;
  const quantity = { unscaled: isNegative ? -value : value, scale, format };
  return isKept ? { ...quantity, text } : quantity;
}

function readRounded({ magnitude, fraction, isNegative, base, exponent, format }: Parts): Quantity {
  let unscaled = base === 10 ? magnitude : magnitude << BigInt(exponent);
  let scale = (base === 10 ? exponent : 0) - fraction.length;
  if (unscaled !== 0n && scale < nano) {
    unscaled = divideUp(unscaled, 10n ** BigInt(nano - scale));
    scale = nano;
  }
  let written = format;
  if (format === "BinarySI") {
    const one = 10n ** BigInt(-scale);
    if (unscaled > int64Max * one) {
      unscaled = int64Max;
      scale = 0;
    } else if (unscaled > 0n && unscaled < one) {
      written = "DecimalSI";
    }
  }
  return { unscaled: isNegative ? -unscaled : unscaled, scale, format: written };
}

/** Undefined if binary suffixes cannot say it: too small, or not whole. */
function printBinary({ unscaled, scale }: Quantity): string | undefined {
  const one = 10n ** BigInt(Math.max(-scale, 0));
  const scaled = scale > 0 ? unscaled * 10n ** BigInt(scale) : unscaled;
  if (scaled % one !== 0n) return undefined;
  let amount = scaled / one;
  if (amount > -1024n && amount < 1024n) return undefined;
  let power = 0;
  while (amount % 1024n === 0n) {
    amount /= 1024n;
    power += 1;
  }
  return `${amount}${binarySuffixes[power] ?? ""}`;
}

function printDecimal({ unscaled, scale, format }: Quantity): string {
  let amount = unscaled;
  let exponent = scale;
  while (amount % 10n === 0n) {
    amount /= 10n;
    exponent += 1;
  }
  while (exponent % 3 !== 0) {
    amount *= 10n;
    exponent -= 1;
  }
  if (format === "DecimalExponent") return exponent === 0 ? `${amount}` : `${amount}e${exponent}`;
  // Beyond E there is no suffix, and Kubernetes writes none.
  return `${amount}${decimalOfExponent.get(exponent) ?? ""}`;
}

function align(a: Quantity, b: Quantity): [bigint, bigint, number] {
  const scale = Math.min(a.scale, b.scale);
  const raise = ({ unscaled, scale: own }: Quantity): bigint =>
    unscaled * 10n ** BigInt(own - scale);
  return [raise(a), raise(b), scale];
}

/** Division away from zero. */
function divideUp(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}
