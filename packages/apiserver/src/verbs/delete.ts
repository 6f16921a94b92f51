import { failures, type ProtobufCodec } from "@keelson/kube";

import type { AnswerFormat } from "../encoding/answer-format.ts";
import { builtinFormats, readBody, UnreadableBody } from "../encoding/read-body.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import type { Answer } from "../http/answer.ts";
import { header, type ResourceExchange } from "../http/exchange.ts";
import { nameOf } from "../object-metadata.ts";
import { deleteObject, type Deleted } from "../writes/delete-object.ts";
import {
  deleteOptionsFrom,
  deleteOptionsFromQuery,
  type DeleteOptions,
} from "../writes/delete-options.ts";
import { unregistered } from "./patch.ts";
import { formatFor, objectAnswer, type Verb, type Verbs } from "./verb.ts";
import { writeRequest } from "./write-options.ts";

/** Deletes an object, or begins to (KB 34). */
export const deleteOne: Verb = async (verbs, exchange) => {
  const { resource, signal } = exchange;
  const format = formatFor(exchange);
  const options = sentDeleteOptions(verbs, exchange);
  const request = writeRequest(exchange, { manager: "", isDryRun: options.isDryRun });
  const deleted = await deleteObject(verbs, request, options, signal);
  const code = !deleted.isGone && options.orphanDependents === false ? 202 : 200;
  const showsObject = !deleted.isGone || resource.switches.deleteReturnsObject;
  return showsObject && !(deleted.isPending && !resource.switches.deleteReturnsObject)
    ? objectAnswer(verbs, exchange, format, { ...deleted, code })
    : goneAnswer(verbs, exchange, { deleted, code, format });
};

/** The options from the body; only without one from the query. Throws a `StatusError`. */
export function sentDeleteOptions(
  { codec }: { readonly codec: ProtobufCodec },
  exchange: ResourceExchange,
): DeleteOptions {
  const { body, query } = exchange;
  if (body.length === 0) return deleteOptionsFromQuery(query);
  const contentType = header(exchange, "content-type");
  const {
    kind = "DeleteOptions",
    apiVersion = "v1",
    ...options
  } = readOptions(body, {
    contentType,
    formats: builtinFormats,
    codec,
  });
  if (kind !== "DeleteOptions") {
    throw failures.badRequest(unregistered(kind, apiVersion));
  }
  return deleteOptionsFrom(options);
}

function readOptions(
  body: Uint8Array,
  options: Parameters<typeof readBody>[1],
): ReturnType<typeof readBody>["value"] {
  try {
    return readBody(body, options).value;
  } catch (error) {
    if (error instanceof UnreadableBody) throw failures.badRequest(error.message);
    throw error;
  }
}

function goneAnswer(
  { codec }: Verbs,
  { resource }: ResourceExchange,
  {
    deleted,
    code,
    format,
  }: { readonly deleted: Deleted; readonly code: number; readonly format: AnswerFormat },
): Answer {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: nameOf(deleted.body.value),
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.plural,
      uid: deleted.uid,
    },
  };
  return {
    code,
    contentType: contentTypeOf(format.mediaType),
    body: writeValue(status, format, codec),
  };
}
