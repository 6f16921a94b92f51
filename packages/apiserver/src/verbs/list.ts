import type { JsonObject } from "@keelson/base";
import { apiVersionOf, failures, partialMetadataList } from "@keelson/kube";
import {
  Expired,
  TooNew,
  type ListOptions as StoreOptions,
  type Page,
  type Row,
} from "@keelson/store";

import { BytePieces, type PiecePool } from "../encoding/byte-pieces.ts";
import { itemParts, objectOf } from "../encoding/object-text.ts";
import { json } from "../encoding/read-body.ts";
import { tableOf } from "../encoding/write-table.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import type { Answer } from "../http/answer.ts";
import { Chunk } from "../http/chunk.ts";
import type { ResourceExchange } from "../http/exchange.ts";
import type { Sink } from "../http/sink.ts";
import { continueToken, cursorFrom } from "../reads/continue-token.ts";
import { listOptions, revisionFrom, type ListOptions } from "../reads/list-options.ts";
import { waitForRevision } from "../reads/wait-for-revision.ts";
import type { Resource } from "../resources/resource.ts";
import { storageOf } from "../writes/write-request.ts";
import { formatFor, type Verb, type Verbs } from "./verb.ts";
import type { AnswerFormat } from "../encoding/answer-format.ts";
import { notAcceptable } from "../encoding/produced.ts";

/** Answers a collection, or a page of it, as of one revision. */
export const list: Verb = async (verbs, exchange) => {
  const { resource, info, query } = exchange;
  const format = formatFor(exchange, { isList: true });
  const options = listOptions(resource, query, { isWatch: false, name: nameInPath(info) });
  const page = await readList(verbs, exchange, options);
  const isPlain = format.shape === "object" && format.mediaType === json && !format.isPretty;
  if (!isPlain || page.items.length <= wholeItemsMax) {
    return listAnswer(verbs, exchange, format, page);
  }
  refuseSingle(resource, format);
  const { pool } = verbs;
  const { head, tail } = listFrame(
    resource,
    listMetadata(resource, { namespace: info.namespace, shape: format.shape }, page),
  );
  return {
    code: 200,
    contentType: contentTypeOf(format.mediaType),
    isEndless: false,
    stream: (sink, signal) =>
      streamList(sink, { pool, head, tail, resource, items: page.items }, signal),
  };
};

/** Lists of no more than this go out in one piece. */
const wholeItemsMax = 32;

interface LongList {
  readonly pool: PiecePool;
  readonly head: string;
  readonly tail: string;
  readonly resource: Resource;
  readonly items: readonly Row[];
}

/** Writes a list in pieces, as fast as its client takes them. */
async function streamList(
  sink: Sink,
  { pool, head, tail, resource, items }: LongList,
  signal: AbortSignal,
): Promise<void> {
  const pieces = new BytePieces(pool);
  pieces.add(head);
  for (const [index, row] of items.entries()) {
    const [start, rest] = itemParts(resource, row);
    const before = pieces.add(index === 0 ? start : `,${start}`);
    let drained = before && sink.write(before);
    if (drained !== undefined) await drained;
    const within = pieces.add(rest);
    drained = within && sink.write(within);
    if (drained !== undefined) await drained;
    if (signal.aborted) return;
  }
  const last = pieces.take();
  const drained = last && sink.write(last);
  if (drained !== undefined) await drained;
  // By itself, once the rest is out: a client that has it all may ask for more at once.
  void sink.write(Chunk.of(tail));
}

/** A collection narrowed to one name by its selector has that name there already. */
function nameInPath({ isNamed, name }: ResourceExchange["info"]): string {
  return isNamed ? name : "";
}

/** Reads what the options ask for. Throws a `StatusError`. */
export async function readList(
  { store, clock }: Pick<Verbs, "store" | "clock">,
  { resource, info, signal }: Pick<ResourceExchange, "resource" | "info" | "signal">,
  options: ListOptions,
): Promise<Page> {
  const namespace = resource.isNamespaced ? info.namespace : "";
  const scope = { kind: storageOf(resource), namespace };
  const request = storeOptions(resource, options, namespace);
  try {
    return await store.list(scope, request, signal);
  } catch (error) {
    if (error instanceof TooNew) {
      await waitForRevision({ store, clock }, error.revision, signal);
      return await store.list(scope, request, signal);
    }
    if (error instanceof Expired) throw expiredList(resource, namespace, request);
    throw error;
  }
}

function storeOptions(resource: Resource, options: ListOptions, namespace: string): StoreOptions {
  const { selector, limit, match } = options;
  const base: StoreOptions = limit > 0 ? { selector, limit } : { selector };
  if (options.continue !== "") {
    const { isNamespaced } = resource;
    const cursor = cursorFrom(options.continue, { isNamespaced, namespace });
    if (options.resourceVersion !== "" && options.resourceVersion !== "0") {
      throw failures.badRequest("specifying resource version is not allowed when using continue");
    }
    return { ...base, continue: cursor };
  }
  const revision = revisionFrom(options.resourceVersion);
  if (revision === undefined) return base;
  // KB 19: a page of a given revision is a page of exactly that state.
  const isExact = match === "Exact" || (match === undefined && limit > 0);
  return { ...base, revision, match: isExact ? "exact" : "notOlderThan" };
}

/** KB 18: whoever pages may go on at a fresh revision; whoever named a revision must list again. */
function expiredList(resource: Resource, namespace: string, request: StoreOptions): Error {
  const { continue: cursor } = request;
  if (cursor === undefined) {
    return failures.expired("The resourceVersion for the provided list is too old.");
  }
  const { revision: _, remaining: _remaining, ...rest } = cursor;
  const next = continueToken(rest, { isNamespaced: resource.isNamespaced, namespace });
  return failures.expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    next,
  );
}

/** A page in the format of the answer. */
export function listAnswer(
  { codec, clock }: Pick<Verbs, "codec" | "clock">,
  { resource, info }: Pick<ResourceExchange, "resource" | "info">,
  format: AnswerFormat,
  page: Page,
): Answer {
  const contentType = contentTypeOf(format.mediaType);
  refuseSingle(resource, format);
  const metadata = listMetadata(resource, { namespace: info.namespace, shape: format.shape }, page);
  if (format.shape === "object" && format.mediaType === json && !format.isPretty) {
    return { code: 200, contentType, body: listText(resource, metadata, page.items) };
  }
  const objects = page.items.map((row) => objectOf(resource, row));
  const value = listValue(resource, { objects, metadata }, format, clock.now());
  return { code: 200, contentType, body: writeValue(value, format, codec) };
}

/** A list cannot be answered as the metadata of one object. */
function refuseSingle({ isCustom, group, kind }: Resource, { asked }: AnswerFormat): void {
  if (asked !== "PartialObjectMetadata") return;
  const type = isCustom
    ? "*unstructured.UnstructuredList"
    : `*${group === "" ? "core" : group.split(".", 1)[0]}.${kind}List`;
  throw notAcceptable(
    `you requested PartialObjectMetadata, but the requested object is a list (${type})`,
  );
}

function listValue(
  resource: Resource,
  { objects, metadata }: { readonly objects: readonly JsonObject[]; readonly metadata: JsonObject },
  format: AnswerFormat,
  nowMs: number,
): JsonObject {
  if (format.shape === "table") return tableOf(resource, { objects, metadata }, format, nowMs);
  const items =
    resource.isCustom || format.shape === "metadata" ? objects : objects.map(withoutKind);
  const whole: JsonObject = {
    kind: resource.listKind ?? `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata,
    items,
  };
  return format.shape === "metadata" ? partialMetadataList(whole) : whole;
}

function withoutKind(object: JsonObject): JsonObject {
  const { apiVersion: _, kind: _kind, ...rest } = object;
  return rest;
}

function listMetadata(
  resource: Resource,
  { namespace, shape }: { readonly namespace: string; readonly shape: AnswerFormat["shape"] },
  page: Page,
): JsonObject {
  const { isNamespaced, isCustom } = resource;
  return {
    resourceVersion: String(page.revision),
    // Lists of custom resources say it even if there is nothing more.
    ...(page.continue === undefined
      ? isCustom && shape === "object"
        ? { continue: "" }
        : {}
      : { continue: continueToken(page.continue, { isNamespaced, namespace }) }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

/** The whole text, from the texts of its items: nothing is read to be written again. */
function listText(resource: Resource, metadata: JsonObject, items: readonly Row[]): string {
  const { head, tail } = listFrame(resource, metadata);
  return `${head}${items.map((row) => itemParts(resource, row).join("")).join(",")}${tail}`;
}

/** What stands before and after the items. */
function listFrame(
  resource: Resource,
  metadata: JsonObject,
): { readonly head: string; readonly tail: string } {
  const kind = resource.listKind ?? `${resource.kind}List`;
  const head = `{"kind":"${kind}","apiVersion":"${apiVersionOf(resource)}","metadata":${JSON.stringify(metadata)},"items":[`;
  return { head, tail: "]}\n" };
}
