// The one place that knows where an object keeps what the tables show in columns of their own.

import { JsonNumber, type Json, type JsonObject, writeJson } from "@keelson/base";
import { Body } from "./body.ts";
import { Corrupt, Invalid } from "./errors.ts";
import { describeKey, type Key } from "./key.ts";

/** What a write stores beside the whole body. The remaining columns are derived by the database. */
export interface Columns {
  readonly uid: string;
  readonly apiVersion: string;
  readonly generation: number;
  /** JSON, or null for an object without labels. */
  readonly labels: string | null;
  /** ISO 8601, or null unless deletion was requested. */
  readonly deletedAt: string | null;
}

/** Refuses keys that no backend could hold or order: an empty kind or name, NUL, half a surrogate pair. */
export function checkKey(key: Key): void {
  if (key.kind === "") throw new Invalid(key, "kind", "must not be empty");
  if (key.name === "") throw new Invalid(key, "name", "must not be empty");
  for (const part of ["kind", "namespace", "name"] as const) {
    if (key[part].includes("\0")) throw new Invalid(key, part, "must not contain NUL");
    if (!key[part].isWellFormed()) throw new Invalid(key, part, "must be well-formed Unicode");
  }
}

/** Takes an object apart. Throws {@link Invalid} if it lacks a uid. */
export function toColumns(key: Key, body: Body): Columns {
  const metadata = object(body.value["metadata"]);
  const uid = metadata["uid"];
  if (typeof uid !== "string" || uid === "") {
    throw new Invalid(key, "metadata.uid", "must be a non-empty string");
  }
  if (uid.includes("\0")) throw new Invalid(key, "metadata.uid", "must not contain NUL");
  const generation = metadata["generation"];
  const labels = metadata["labels"];
  return {
    uid,
    apiVersion: text(body.value["apiVersion"]),
    generation: Number.isSafeInteger(generation) ? Number(generation) : 1,
    labels: Object.keys(object(labels)).length === 0 ? null : writeJson(labels ?? null),
    deletedAt: timestamp(metadata["deletionTimestamp"]),
  };
}

/** Puts a stored body together again. An undecodable row fails here, with its key. */
export function fromColumns(key: Key, text: string): Body {
  try {
    return Body.parse(text);
  } catch (cause) {
    throw new Corrupt(`${describeKey(key)}: the stored body cannot be decoded`, { cause, key });
  }
}

function object(value: Json | undefined): JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && !(value instanceof JsonNumber) ? (value as JsonObject) : {};
}

/** Columns of type text hold no NUL on PostgreSQL; the body keeps it. */
function text(value: Json | undefined): string {
  return typeof value === "string" ? value.replaceAll("\0", "") : "";
}

function timestamp(value: Json | undefined): string | null {
  if (typeof value !== "string") return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
