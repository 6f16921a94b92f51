// Bodies of subresources that are neither the object nor stored: a binding, an eviction, a token request.

import type { JsonObject, MutableJsonObject } from "@keelson/base";
import {
  decodeFailureMessage,
  emptyOf,
  failures,
  fieldManager,
  partialMetadata,
  strictFailureMessage,
  typedBody,
  TypedDecodeError,
  type BuiltinKinds,
  type FieldManager,
  type KindName,
  type TypedKind,
} from "@keelson/kube";

import type { AnswerFormat } from "../encoding/answer-format.ts";
import { builtinFormats } from "../encoding/read-body.ts";
import { readSent } from "../encoding/read-sent.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import type { Answer } from "../http/answer.ts";
import { header, type ResourceExchange } from "../http/exchange.ts";
import { nameOf, ownMetadata } from "../object-metadata.ts";
import { once } from "../resources/once.ts";
import { formatFor, type Verbs } from "../verbs/verb.ts";
import { judgeFields, type WriteOptions } from "../verbs/write-options.ts";

/** How a body of such a kind is read. */
export interface BodyKind {
  readonly kind: string;
  readonly version: string;
  readonly decode: TypedKind["decode"];
}

/** A kind that the built-in data knows; made ready when the first body comes. */
export function bodyKind(kinds: BuiltinKinds, name: KindName): BodyKind {
  const typed = once(() => typedBody(kinds, name));
  return { ...name, decode: (value, said) => typed().decode(value, said) };
}

/** Who manages what a body of such a kind says, at the subresource that takes it. */
export function bodyFields(kinds: BuiltinKinds, name: KindName, subresource: string): FieldManager {
  const type = kinds.typeOf(name);
  if (type === undefined) throw new RangeError(`${name.group}/${name.version} has no ${name.kind}`);
  const schema = kinds.schemaOf(type);
  return fieldManager({ ...name, schema, subresource, empty: emptyOf(kinds, name) });
}

/** The object in a body that must be of a kind. Throws a `StatusError`. */
export function sentBody(
  { codec }: Verbs,
  exchange: ResourceExchange,
  { kind, options }: Sent,
): MutableJsonObject {
  const contentType = header(exchange, "content-type");
  const read = readSent(exchange.body, kind, { contentType, formats: builtinFormats, codec });
  const sent = read.value["kind"] ?? kind.kind;
  if (sent !== kind.kind) throw failures.badRequest(`not a ${kind.kind} object`);
  try {
    const { object, problems } = kind.decode(read.value, read.said);
    judgeFields(problems, { ...options, warn: exchange.warn }, (all) =>
      failures.badRequest(strictFailureMessage(all, kind)),
    );
    return object;
  } catch (error) {
    if (!(error instanceof TypedDecodeError)) throw error;
    throw failures.badRequest(decodeFailureMessage(error, kind));
  }
}

/** What is expected of a body. */
export interface Sent {
  readonly kind: BodyKind;
  readonly options: Pick<WriteOptions, "fieldValidation">;
}

/** The same, named as the path says. */
export function namedBody(verbs: Verbs, exchange: ResourceExchange, sent: Sent): MutableJsonObject {
  const value = sentBody(verbs, exchange, sent);
  const { info } = exchange;
  const { kind } = sent;
  if (nameOf(value) === "") ownMetadata(value)["name"] = info.name;
  if (nameOf(value) !== info.name) {
    throw failures.badRequest(`name in URL does not match name in ${kind.kind} object`);
  }
  return value;
}

/** How an object is answered that nobody keeps: no Table is made of it. To be asked before anything is done. */
export function creationFormat(exchange: ResourceExchange): AnswerFormat {
  return formatFor(exchange, { hasTable: false });
}

/** An answer that is an object which nobody keeps. */
export function createdAnswer({ codec }: Verbs, format: AnswerFormat, object: JsonObject): Answer {
  const isPart = format.shape === "metadata" && object["kind"] !== "Status";
  return {
    code: 201,
    contentType: contentTypeOf(format.mediaType),
    body: writeValue(isPart ? partialMetadata(object) : object, format, codec),
  };
}

/** An answer that only says that it is done. */
export function successAnswer(verbs: Verbs, format: AnswerFormat): Answer {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return createdAnswer(verbs, format, status);
}
