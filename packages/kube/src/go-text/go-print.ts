// Values as Go's `fmt` prints them: part of the messages of typed merges and strategic merge patches.

import { isJsonArray, isJsonObject, JsonNumber, type Json } from "@keelson/base";

import { compareBytes } from "./byte-order.ts";
import { quote } from "./quote.ts";

/** Go's `%v`: `map[a:1 b:[x y]]`, `<nil>`, text as it is. */
export function printValue(value: Json): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(printValue).join(" ")}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort(compareBytes)
      .map((key) => `${key}:${printValue(value[key] ?? null)}`);
    return `map[${members.join(" ")}]`;
  }
  return printScalar(value);
}

/** Go's `%#v`: the value as Go source would write it. */
export function printSource(value: Json): string {
  if (value === null) return "interface {}(nil)";
  if (typeof value === "string") return quote(value);
  if (isJsonArray(value)) return `[]interface {}{${value.map(printSource).join(", ")}}`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .sort(compareBytes)
      .map((key) => `${quote(key)}:${printSource(value[key] ?? null)}`);
    return `map[string]interface {}{${members.join(", ")}}`;
  }
  return printScalar(value);
}

/** Go's `%T`: the type that a decoder of Kubernetes gives the value. */
export function printType(value: Json): string {
  if (value === null) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (isJsonArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  return isInteger(value) ? "int64" : "float64";
}

/** Whether a number is one that Kubernetes keeps as an int64: written without point and exponent, and it fits. */
export function isInteger(value: number | bigint | JsonNumber): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value) && !Object.is(value, -0);
  return typeof value === "bigint";
}

/** A float64 as `%v` prints it: the shortest text that reads back, with an exponent below 1e-4 and from 1e6 on. */
export function printFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4 && magnitude < 1e6) return String(value);
  const [mantissa = "", exponent = "+0"] = value.toExponential().split("e");
  return `${mantissa}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, "0")}`;
}

function printScalar(value: string | number | boolean | bigint | JsonNumber): string {
  if (value instanceof JsonNumber) return printFloat(Number(value.text));
  if (typeof value === "number" && !Number.isInteger(value)) return printFloat(value);
  return String(value);
}
