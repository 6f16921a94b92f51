// Bodies are read without loss, and checked for what no database of ours takes.

import { isUtf8 } from "node:buffer";
import {
  JsonNumber,
  JsonSyntaxError,
  readJson,
  RestError,
  validationFailed,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { FastifyInstance } from "fastify";

/** Makes `application/json` the only kind of body, read by `readJson`. No bytes at all are no body. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    try {
      done(null, parseBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * Throws `VALIDATION_FAILED` for what is not UTF-8, not JSON, says a key twice, has a NUL in a text, or numbers that are
 * too long once they are written out.
 */
function parseBody(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw validationFailed({ field: "body", message: "must be UTF-8" });
  try {
    const text = bytes.toString("utf8");
    const value = readJson(text, { duplicates: "refuse" });
    // A NUL can only be written as an escape; almost no body has one.
    if (bytes.includes(nulEscape)) refuseNul(value);
    if (mayBeLong(text)) refuseLongNumbers(value);
    return value;
  } catch (error) {
    if (error instanceof RestError || !(error instanceof JsonSyntaxError)) throw error;
    throw new RestError("VALIDATION_FAILED", `the body is not valid JSON: ${error.message}`, {
      cause: error,
      details: { fields: [{ field: "body", message: error.message }] },
    });
  }
}

const nulEscape = Buffer.from("\\u0000");

/** Throws for the first text or key with a NUL, naming its path. */
function refuseNul(root: Json): void {
  for (const [value, pathOf] of everythingIn(root)) {
    if (typeof value === "string" && value.includes("\0")) throw nulAt(pathOf());
    if (typeof value !== "object" || value === null) continue;
    for (const key of Object.keys(value)) if (key.includes("\0")) throw nulAt(pathOf());
  }
}

function nulAt(path: string): RestError {
  return validationFailed({ field: path || "body", message: "must not contain NUL" });
}

/**
 * How many zeros the exponents of a body may stand for. `jsonb` writes them out whenever it is read: without a bound a
 * row of a few bytes becomes gigabytes, and whatever reads it, a list of everybody's too, fails for ever.
 */
const zerosMax = 1024 * 1024;

/** Of a number, or of what looks like one in a text; not of the digests in which an `e` stands between digits. */
const exponent = /(?:^|[:,[\s])-?\d+(?:\.\d+)?[eE]([+-]?\d+)(?=[,\]}\s]|$)/g;

/** Whether all that looks like an exponent comes near the bound. Almost no body does. */
function mayBeLong(text: string): boolean {
  let zeros = 0;
  for (const [, digits] of text.matchAll(exponent)) zeros += Math.abs(Number(digits));
  return zeros > zerosMax;
}

function refuseLongNumbers(root: Json): void {
  let zeros = 0;
  for (const [value, pathOf] of everythingIn(root)) {
    if (typeof value !== "number" && !(value instanceof JsonNumber)) continue;
    zeros += zerosIn(String(value));
    if (zeros <= zerosMax) continue;
    const message = "is too long when it is written out, with the numbers before it";
    throw validationFailed({ field: pathOf() || "body", message });
  }
}

/** How many zeros the exponent of a number stands for. However often nought is multiplied, it has no more. */
function zerosIn(text: string): number {
  const [, digits = "", exponent = "0"] = /^([^eE]*)[eE](.+)$/.exec(text) ?? [];
  const isNought = !/[1-9]/.test(digits);
  return isNought && Number(exponent) > 0 ? 0 : Math.abs(Number(exponent));
}

/** A member of an object, or an element of a list. */
type Step = readonly [name: number | string, value: Json];

/**
 * Every value, parents first and in their order, and what tells the path of the one that is at hand. It holds no more than
 * the way there, for bodies may be long, and that not on the stack, for they may be deep.
 */
function* everythingIn(root: Json): Generator<readonly [value: Json, pathOf: () => string]> {
  const names: (number | string)[] = [];
  const pathOf = (): string => pathText(names.slice(1));
  const open: Iterator<Step>[] = [[["", root] as const].values()];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const next = level.next();
    if (next.done === true) {
      open.pop();
      names.length = open.length;
      continue;
    }
    const [name, value] = next.value;
    names[open.length - 1] = name;
    yield [value, pathOf];
    if (typeof value !== "object" || value === null || value instanceof JsonNumber) continue;
    open.push(Array.isArray(value) ? value.entries() : membersOf(value as JsonObject));
  }
}

function* membersOf(value: JsonObject): Generator<Step> {
  for (const key of Object.keys(value)) yield [key, value[key] as Json];
}

function pathText(names: readonly (number | string)[]): string {
  const text = names.map((name) => (typeof name === "number" ? `[${name}]` : `.${name}`)).join("");
  return text.replace(/^\./, "");
}
