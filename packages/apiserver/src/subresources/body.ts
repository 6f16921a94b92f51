// Bodies of subresources that are neither the object nor stored: a binding, an eviction, a token request.

import type { MutableJsonObject } from "@keelson/base";
import { failures } from "@keelson/kube";

import { builtinFormats, readBody } from "../encoding/read-body.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import type { Answer } from "../http/answer.ts";
import { header, type ResourceExchange } from "../http/exchange.ts";
import { nameOf, ownMetadata } from "../object-metadata.ts";
import { formatFor, type Verbs } from "../verbs/verb.ts";

/** The object in a body that must be of a kind, named as the path says. Throws a `StatusError`. */
export function namedBody(
  { codec }: Verbs,
  exchange: ResourceExchange,
  kind: string,
): MutableJsonObject {
  const { body, info } = exchange;
  const contentType = header(exchange, "content-type");
  const { value } = readBody(body, { contentType, formats: builtinFormats, codec });
  const sent = value["kind"] ?? kind;
  if (sent !== kind) throw failures.badRequest(`not a ${kind} object`);
  if (nameOf(value) === "") ownMetadata(value)["name"] = info.name;
  if (nameOf(value) !== info.name) {
    throw failures.badRequest(`name in URL does not match name in ${kind} object`);
  }
  return value;
}

/** An answer that only says that it is done. */
export function successAnswer({ codec }: Verbs, exchange: ResourceExchange): Answer {
  const format = formatFor(exchange);
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return {
    code: 201,
    contentType: contentTypeOf(format.mediaType),
    body: writeValue(status, format, codec),
  };
}
