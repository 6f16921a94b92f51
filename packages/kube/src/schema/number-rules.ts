// The rules for numbers. Limits are floats, but an integer is compared with the limit cut to an integer: 2 is
// refused by a maximum of 1.5 because it is above 1, and 1 is allowed by a minimum of 1.5.

import type { Json } from "@keelson/base";
import { invalidField } from "../status/field-error.ts";
import { printFloat } from "../go-text/go-print.ts";
import { floatOf, isIntegralFloat, kindOf, truncateToInt64 } from "./go-value.ts";
import type { Problem } from "./outcome.ts";
import type { StructuralSchema } from "./structural.ts";

/** What is wrong with a number: its range first, then `multipleOf`, `minimum`, `maximum`. */
export function numberProblems(schema: StructuralSchema, value: Json, path: string): Problem[] {
  const { multipleOf, minimum, maximum } = schema;
  const problems = rangeProblems(schema, value, "Checked", path);
  const number: Checked = { value, path, isInteger: kindOf(value) === "integer" };
  if (multipleOf !== undefined) {
    const odd = rangeProblems(schema, floatLimit(multipleOf), "MultipleOf", path);
    problems.push(...odd, ...multipleProblems(number, multipleOf, odd.length > 0));
  }
  if (minimum !== undefined) {
    const odd = rangeProblems(schema, floatLimit(minimum), "Minimum boundary", path);
    const isExclusive = schema.exclusiveMinimum === true;
    const words = isExclusive ? "greater than" : "greater than or equal to";
    const isBelow = compareLimit(number, minimum, odd.length > 0);
    const isWrong = isBelow.order < 0 || (isExclusive && isBelow.order === 0);
    problems.push(...odd, ...(isWrong ? [limitProblem(number, words, isBelow)] : []));
  }
  if (maximum !== undefined) {
    const odd = rangeProblems(schema, floatLimit(maximum), "Maximum boundary", path);
    const isExclusive = schema.exclusiveMaximum === true;
    const words = isExclusive ? "less than" : "less than or equal to";
    const isAbove = compareLimit(number, maximum, odd.length > 0);
    const isWrong = isAbove.order > 0 || (isExclusive && isAbove.order === 0);
    problems.push(...odd, ...(isWrong ? [limitProblem(number, words, isAbove)] : []));
  }
  return problems;
}

/** Whether a number keeps all rules; the same decisions as `numberProblems`. */
export function isNumberAllowed(schema: StructuralSchema, value: Json): boolean {
  return numberProblems(schema, value, "").length === 0;
}

interface Checked {
  readonly value: Json;
  readonly path: string;
  readonly isInteger: boolean;
}

/** A limit is always a float, even when it was written as an integer. */
interface FloatLimit {
  readonly float: number;
}

function floatLimit(float: number): FloatLimit {
  return { float };
}

function rangeProblems(
  schema: StructuralSchema,
  value: Json | FloatLimit,
  what: string,
  path: string,
): Problem[] {
  const isAmbiguous = schema["x-kubernetes-int-or-string"] === true;
  const type = isAmbiguous ? undefined : schema.type;
  if (type !== "integer" && type !== "number") return [];
  const format = schema.format ?? "";
  if (type === "number") {
    if (format !== "float" || isFloat32(value)) return [];
    return [general(`${what} value must be of type number with format float in ${path}`)];
  }
  const bits = format === "int32" ? 32 : 64;
  if (isInteger(value, bits)) return [];
  const how =
    format === "int32" || format === "int64" ? `with format ${format}` : "(default format)";
  return [general(`${what} value must be of type integer ${how} in ${path}`)];
}

function general(message: string): Problem {
  return { message, name: "", at: (field) => invalidField(field, "", message), isGeneral: true };
}

function isFloatLimit(value: Json | FloatLimit): value is FloatLimit {
  return typeof value === "object" && value !== null && "float" in value;
}

function isInteger(value: Json | FloatLimit, bits: number): boolean {
  if (!isFloatLimit(value) && kindOf(value) === "integer") {
    const integer = BigInt(value as number | bigint);
    return integer === BigInt.asIntN(bits, integer);
  }
  const float = isFloatLimit(value) ? value.float : floatOf(value);
  if (!Number.isInteger(float)) return false;
  const integer = BigInt(float);
  return integer === BigInt.asIntN(bits, integer);
}

function isFloat32(value: Json | FloatLimit): boolean {
  const float = isFloatLimit(value) ? value.float : floatOf(value);
  return Number.isFinite(Math.fround(float));
}

function multipleProblems(number: Checked, factor: number, asFloats: boolean): Problem[] {
  const { value, path } = number;
  if (number.isInteger && !asFloats) {
    const divisor = truncateToInt64(factor);
    if (divisor <= 0n) return [notPositive(path, String(divisor), Number(divisor))];
    if (BigInt(value as number | bigint) % divisor === 0n) return [];
    return [named(number, `should be a multiple of ${divisor}`)];
  }
  if (factor <= 0) return [notPositive(path, printFloat(factor), factor)];
  const float = floatOf(value);
  const times = factor < 1 ? (1 / factor) * float : float / factor;
  return isIntegralFloat(times)
    ? []
    : [named(number, `should be a multiple of ${printFloat(factor)}`)];
}

function notPositive(path: string, text: string, factor: number): Problem {
  const message = `factor MultipleOf declared for ${path} must be positive: ${text}`;
  return { message, name: path, at: (field) => invalidField(field, factor, message) };
}

interface Compared {
  readonly order: number;
  readonly limit: string;
}

function compareLimit(number: Checked, limit: number, asFloats: boolean): Compared {
  if (number.isInteger && !asFloats) {
    const integer = BigInt(number.value as number | bigint);
    const cut = truncateToInt64(limit);
    return { order: integer < cut ? -1 : integer > cut ? 1 : 0, limit: String(cut) };
  }
  return { order: Math.sign(floatOf(number.value) - limit), limit: printFloat(limit) };
}

function limitProblem(number: Checked, words: string, { limit }: Compared): Problem {
  return named(number, `should be ${words} ${limit}`);
}

function named({ value, path }: Checked, words: string): Problem {
  const message = `${path} in body ${words}`;
  return { message, name: path, at: (field) => invalidField(field, value, message) };
}
