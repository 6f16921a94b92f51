// Bodies of subresources that are neither the object nor stored: a binding, an eviction, a token request.

import type { JsonObject, MutableJsonObject } from "@keelson/base";
import {
  decodeFailureMessage,
  failures,
  typedBody,
  TypedDecodeError,
  type BuiltinKinds,
  type KindName,
  type TypedKind,
} from "@keelson/kube";

import { builtinFormats } from "../encoding/read-body.ts";
import { readSent } from "../encoding/read-sent.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import type { Answer } from "../http/answer.ts";
import { header, type ResourceExchange } from "../http/exchange.ts";
import { nameOf, ownMetadata } from "../object-metadata.ts";
import { once } from "../resources/once.ts";
import { formatFor, type Verbs } from "../verbs/verb.ts";

/** How a body of such a kind is read. */
export interface BodyKind {
  readonly kind: string;
  readonly version: string;
  readonly decode: TypedKind["decode"];
}

/** A kind that the built-in data knows; made ready when the first body comes. */
export function bodyKind(kinds: BuiltinKinds, name: KindName): BodyKind {
  const typed = once(() => typedBody(kinds, name));
  return { ...name, decode: (value) => typed().decode(value) };
}

/** The object in a body that must be of a kind. Throws a `StatusError`. */
export function sentBody(
  { codec }: Verbs,
  exchange: ResourceExchange,
  kind: BodyKind,
): MutableJsonObject {
  const contentType = header(exchange, "content-type");
  const { value } = readSent(exchange.body, kind, { contentType, formats: builtinFormats, codec });
  const sent = value["kind"] ?? kind.kind;
  if (sent !== kind.kind) throw failures.badRequest(`not a ${kind.kind} object`);
  try {
    return kind.decode(value).object;
  } catch (error) {
    if (!(error instanceof TypedDecodeError)) throw error;
    throw failures.badRequest(decodeFailureMessage(error, kind));
  }
}

/** The same, named as the path says. */
export function namedBody(
  verbs: Verbs,
  exchange: ResourceExchange,
  kind: BodyKind,
): MutableJsonObject {
  const value = sentBody(verbs, exchange, kind);
  const { info } = exchange;
  if (nameOf(value) === "") ownMetadata(value)["name"] = info.name;
  if (nameOf(value) !== info.name) {
    throw failures.badRequest(`name in URL does not match name in ${kind.kind} object`);
  }
  return value;
}

/** An answer that is an object which nobody keeps. */
export function createdAnswer(
  { codec }: Verbs,
  exchange: ResourceExchange,
  object: JsonObject,
): Answer {
  const format = formatFor(exchange);
  return {
    code: 201,
    contentType: contentTypeOf(format.mediaType),
    body: writeValue(object, format, codec),
  };
}

/** An answer that only says that it is done. */
export function successAnswer(verbs: Verbs, exchange: ResourceExchange): Answer {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return createdAnswer(verbs, exchange, status);
}
