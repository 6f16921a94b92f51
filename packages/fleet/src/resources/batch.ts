// Many changes in one transaction: all of them, or none and the one that is to blame.

import {
  isJsonArray,
  isJsonObject,
  RestError,
  validationFailed,
  type FieldProblem,
  type Json,
} from "@keelson/base";
import type { BuiltinKinds } from "@keelson/kube";
import { Fields } from "./read-fields.ts";
import { readReplacement, type Replacement } from "./replacement.ts";
import { readKey, readNewResource, type NewResource } from "./resource-body.ts";
import type { Resource, ResourceKey } from "./resource.ts";
import type { ResourceWriter, Written } from "./write-resources.ts";

/** How many changes a batch may hold. */
export const changesMax = 10_000;

/** How many of them one statement creates. */
const createdTogetherMax = 200;

/** One change, read and not yet made. */
export type BatchChange =
  | { readonly op: "create"; readonly wanted: NewResource }
  | { readonly op: "upsert"; readonly wanted: NewResource }
  | { readonly op: "update"; readonly at: number | ResourceKey; readonly asked: Replacement }
  | { readonly op: "delete"; readonly at: number | ResourceKey };

/** What became of one. */
export interface BatchResult {
  readonly resource: Resource;
  readonly outcome: "created" | "updated" | "unchanged" | "deleted";
  /** Undefined: nothing was written, and it is what it was. */
  readonly status: "pending" | "deleting" | undefined;
}

/** Reads the body of a batch. Throws for the first change that is wrong, with its index. */
export function readBatch(kinds: BuiltinKinds, body: Json | undefined): readonly BatchChange[] {
  const fields = new Fields(body);
  const changes = fields.any("changes");
  fields.refuseOthers();
  if (changes === undefined || !isJsonArray(changes)) {
    fields.problems.push({ field: "changes", message: "must be a list" });
  } else if (changes.length === 0 || changes.length > changesMax) {
    fields.problems.push({ field: "changes", message: `must be 1 to ${changesMax} changes` });
  }
  fields.throwIfWrong();
  return (changes as readonly Json[]).map((change, index) =>
    blaming(index, () => readChange(kinds, change)),
  );
}

/** Makes the changes in their order. Throws for the first that is refused, with its index. */
export async function makeChanges(
  writer: ResourceWriter,
  changes: readonly BatchChange[],
): Promise<readonly BatchResult[]> {
  const results: BatchResult[] = [];
  while (results.length < changes.length) {
    const start = results.length;
    const news = newsFrom(changes, start);
    if (news.length > 1) {
      const written = await writer.createAll(news, (error, index) => blamed(error, start + index));
      results.push(...written.map(resultOf));
      continue;
    }
    const change = changes[start];
    if (change === undefined) break;
    try {
      results.push(await makeChange(writer, change));
    } catch (error) {
      throw blamed(error, start);
    }
  }
  return results;
}

/** Those that are created one after the other, from a change on: one statement makes them. */
function newsFrom(changes: readonly BatchChange[], start: number): readonly NewResource[] {
  const news: NewResource[] = [];
  for (let index = start; news.length < createdTogetherMax; index += 1) {
    const change = changes[index];
    if (change?.op !== "create") break;
    news.push(change.wanted);
  }
  return news;
}

function readChange(kinds: BuiltinKinds, change: Json): BatchChange {
  if (!isJsonObject(change)) {
    throw validationFailed({ field: "", message: "must be an object" });
  }
  const fields = new Fields(change);
  const op = fields.optionalWord("op", ["create", "upsert", "update", "delete"]);
  if (op === undefined && fields.problems.length === 0) {
    fields.problems.push({ field: "op", message: "is required" });
  }
  fields.throwIfWrong();
  if (op === "create") return { op, wanted: readNewResource(kinds, fields) };
  if (op === "upsert") return { op, wanted: readNewResource(kinds, fields) };
  const at = fields.optionalNumber("id") ?? readKey(kinds, fields);
  if (op === "update") {
    return { op, at, asked: readReplacement(fields, { isByKey: typeof at !== "number" }) };
  }
  fields.refuseOthers();
  fields.throwIfWrong();
  return { op: "delete", at };
}

async function makeChange(writer: ResourceWriter, change: BatchChange): Promise<BatchResult> {
  if (change.op === "delete") {
    const resource = await writer.delete(change.at);
    return { resource, outcome: "deleted", status: "deleting" };
  }
  const written = await (change.op === "create"
    ? writer.create(change.wanted)
    : change.op === "upsert"
      ? writer.upsert(change.wanted)
      : writer.replace(change.at, change.asked));
  return resultOf(written);
}

function resultOf({ resource, outcome }: Written): BatchResult {
  return { resource, outcome, status: outcome === "unchanged" ? undefined : "pending" };
}

function blaming<T>(index: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw blamed(error, index);
  }
}

/** The same refusal, with the fields of that change. */
function blamed(error: unknown, index: number): unknown {
  if (!(error instanceof RestError)) return error;
  const at = `changes[${index}]`;
  const { fields } = error.details as { readonly fields?: readonly FieldProblem[] };
  const problems = fields ?? [{ field: "", message: error.message }];
  return new RestError(error.code, `${at}: ${error.message}`, {
    cause: error,
    details: {
      ...error.details,
      fields: problems.map(({ field, message }) => ({
        field: field === "" ? at : `${at}.${field}`,
        message,
        index,
      })),
    },
  });
}
