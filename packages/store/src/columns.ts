// The one place that knows where an object keeps what the tables show in columns of their own.

import { isJsonObject, type Json, type JsonObject, writeJson } from "@keelson/base";
import { Body } from "./body.ts";
import { Corrupt, Invalid } from "./errors.ts";
import { describeKey, type Key, type Scope } from "./key.ts";
import { type Expect, isRevision } from "./revision.ts";

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

/** The longest key, in bytes: an index of PostgreSQL holds no more than 2,704 in a row. */
export const keyBytesMax = 1024;

/** Refuses keys that no backend could hold or order: one bad key must not fail the batch it is in (S6). */
export function checkKey(key: Key): void {
  checkScope(key);
  if (key.name === "") throw new Invalid(key, "name", "must not be empty");
  checkText(key, "name", key.name);
  if (Buffer.byteLength(key.kind + key.namespace + key.name) > keyBytesMax) {
    throw new Invalid(key, "name", `makes the key longer than ${keyBytesMax} bytes`);
  }
}

/** The same for a collection. */
export function checkScope(scope: Scope): void {
  const key = { name: "", ...scope };
  if (scope.kind === "" || scope.kind.startsWith(".") || scope.kind.endsWith(".")) {
    throw new Invalid(key, "kind", "must be a kind, or a kind, a dot and its group");
  }
  checkText(key, "kind", scope.kind);
  checkText(key, "namespace", scope.namespace);
}

/** Refuses expectations that no object can meet and no column can be compared with. */
export function checkExpect(key: Key, { revision, uid }: Expect): void {
  if (revision !== undefined && !isRevision(revision)) {
    throw new Invalid(key, "expect.revision", "must be a positive integer");
  }
  if (uid !== undefined) checkText(key, "expect.uid", uid);
}

/** Takes an object apart. Throws {@link Invalid} if it lacks a uid. */
export function toColumns(key: Key, body: Body): Columns {
  const metadata = object(body.value["metadata"]);
  const uid = metadata["uid"];
  if (typeof uid !== "string" || uid === "") {
    throw new Invalid(key, "metadata.uid", "must be a non-empty string");
  }
  checkText(key, "metadata.uid", uid);
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

/** A body from a table or the log. Whoever wants its value gets {@link Corrupt}, with the key, if it is damaged. */
export function storedBody(key: Key, text: string): Body {
  return Body.stored(text, key, broken);
}

function broken(key: Key, cause: unknown): Error {
  return new Corrupt(`${describeKey(key)}: the stored body cannot be decoded`, { cause, key });
}

/** The same, at once: a read of an object that cannot be decoded fails, with its key. */
export function fromColumns(key: Key, text: string): Body {
  return decoded(storedBody(key, text));
}

/**
 * The same for one of many, of which most are only passed on as text: it is read to see that it is whole, and the value
 * is let go. Whoever wants it reads it again.
 */
export function checkedBody(key: Key, text: string): Body {
  const body = storedBody(key, text);
  try {
    if (text.startsWith("{")) {
      JSON.parse(text);
      return body;
    }
  } catch {
    // The careful reader says what is wrong.
  }
  return decoded(body);
}

/** The body, once it is known to be whole. */
export function decoded(body: Body): Body {
  void body.value;
  return body;
}

/** Columns and parameters of type text hold no NUL on PostgreSQL, and nothing holds half a surrogate pair. */
function checkText(key: Key, field: string, value: string): void {
  if (value.includes("\0")) throw new Invalid(key, field, "must not contain NUL");
  if (!value.isWellFormed()) throw new Invalid(key, field, "must be well-formed Unicode");
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** What a column cannot hold is left out of it; the body keeps it. */
function text(value: Json | undefined): string {
  return typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : "";
}

/** A time that every database can hold: years 1 to 9999. */
function timestamp(value: Json | undefined): string | null {
  if (typeof value !== "string") return null;
  const ms = Date.parse(value);
  return ms >= firstMs && ms <= lastMs ? new Date(ms).toISOString() : null;
}

const firstMs = Date.parse("0001-01-01T00:00:00Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");
