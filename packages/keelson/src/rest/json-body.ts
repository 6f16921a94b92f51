// Bodies are read without loss, and checked for what no database of ours takes.

import { isUtf8 } from "node:buffer";
import { JsonSyntaxError, readJson, RestError, validationFailed, type Json } from "@keelson/base";
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

/** Throws `VALIDATION_FAILED` for what is not UTF-8, not JSON, says a key twice or has a NUL in a text. */
function parseBody(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw validationFailed({ field: "body", message: "must be UTF-8" });
  try {
    const value = readJson(bytes.toString("utf8"), { duplicates: "refuse" });
    // A NUL can only be written as an escape; almost no body has one.
    if (bytes.includes(nulEscape)) refuseNul(value);
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

/** Throws for the first text or key with a NUL, naming its path. With a stack of its own: bodies may be deep. */
function refuseNul(root: Json): void {
  const rest: (readonly [Json, string])[] = [[root, ""]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [value, path] = next;
    if (typeof value === "string" && value.includes("\0")) throw nulAt(path);
    if (typeof value !== "object" || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      if (key.includes("\0")) throw nulAt(path);
      const inner = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      rest.push([member as Json, inner]);
    }
  }
}

function nulAt(path: string): RestError {
  return validationFailed({ field: path || "body", message: "must not contain NUL" });
}
