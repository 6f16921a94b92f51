// The formats of strings that the real server checks; any other is documentation.

import { isCidr, isIpv4, isIpv6, isMac } from "./network-formats.ts";
import { isEmail, isRequestUri } from "./address-formats.ts";
import { parseFormatDuration } from "./format-duration.ts";
import { compilePattern } from "./pattern.ts";
import type { StructuralSchema } from "./structural.ts";

type Check = (text: string) => boolean;

/** The check of a string's format, or nothing where that format is not checked. */
export function formatCheck(format: string): Check | undefined {
  return checks.get(format.replaceAll("-", ""));
}

/**
 * The format of a schema as far as it is enforced: string formats where the type is a string or not one alone,
 * `int32` and `int64` on integers, `float` and `double` on numbers.
 */
export function enforcedFormat(schema: StructuralSchema): string {
  const { format = "" } = schema;
  if (format === "" || schema.isFormatLiteral === true) return format;
  const type = schema["x-kubernetes-int-or-string"] === true ? undefined : schema.type;
  switch (type) {
    case undefined:
    case "string":
      return formatCheck(format) === undefined ? "" : format;
    case "integer":
      return format === "int32" || format === "int64" ? format : "";
    case "number":
      return format === "float" || format === "double" ? format : "";
    case "object":
    case "array":
    case "boolean":
      break;
  }
  return "";
}

const bytes = new TextEncoder();

function pattern(source: string): Check {
  const compiled = compilePattern(source);
  if (compiled.matches === undefined) throw new TypeError(compiled.error);
  return compiled.matches;
}

const hostnamePattern = pattern(
  String.raw`^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$`,
);

function isHostname(text: string): boolean {
  if (text.length > 255 || !hostnamePattern(text)) return false;
  if (bytes.encode(text).length > 255) return false;
  return text.split(".").every((label) => bytes.encode(label).length <= 63);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 9; index++) sum += (index + 1) * Number(digits[index]);
  sum += 10 * (digits[9] === "X" ? 10 : Number(digits[9]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < 12; index++) sum += (index % 2 === 0 ? 1 : 3) * Number(digits[index]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

const cardNumber =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, "");
  if (!cardNumber.test(digits)) return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const counted = index % 2 === 0 ? digit : digit * 2;
    sum += counted >= 10 ? (counted % 10) + 1 : counted;
  }
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const parts = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day <= days;
}

const timeOfDay = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/u;

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split("t", 2);
  if (date === undefined || time === undefined || !isDate(date)) return false;
  const parts = timeOfDay.exec(time);
  if (parts === null) return false;
  const [, hour = "", minute = "", second = ""] = parts;
  return hour <= "23" && minute <= "59" && second <= "59";
}

function isDuration(text: string): boolean {
  return parseFormatDuration(text) !== undefined;
}

const uuid = (middle: string): Check => {
  const compiled = new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${middle}-?[0-9a-f]{12}$`, "i");
  return (text) => compiled.test(text);
};
const rgbPart = String.raw`\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`;
const rgb = new RegExp(`^rgb\\(${rgbPart},${rgbPart},${rgbPart}\\)$`);
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const shortName = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

const checks = new Map<string, Check>([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["uri", isRequestUri],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isIpv4],
  ["ipv6", isIpv6],
  ["cidr", isCidr],
  ["mac", isMac],
  ["uuid", uuid("[0-9a-f]{4}-?[0-9a-f]{4}")],
  ["uuid3", uuid("3[0-9a-f]{3}-?[0-9a-f]{4}")],
  ["uuid4", uuid("4[0-9a-f]{3}-?[89ab][0-9a-f]{3}")],
  ["uuid5", uuid("5[0-9a-f]{3}-?[89ab][0-9a-f]{3}")],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text)],
  ["hexcolor", (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["rgbcolor", (text) => rgb.test(text)],
  ["byte", (text) => base64.test(text)],
  ["password", () => true],
  ["date", isDate],
  ["duration", isDuration],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && shortName.test(text)],
  [
    "k8slongname",
    (text) => text.length <= 253 && text.split(".").every((part) => shortName.test(part)),
  ],
]);
