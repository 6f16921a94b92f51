// What every verb is given, and how it answers.

import type { Log } from "@keelson/base";
import type { BuiltinKinds, ProtobufCodec } from "@keelson/kube";

import type { Authorizer } from "../auth/authorizer.ts";
import { answerFormat, type AnswerFormat, type FormatOptions } from "../encoding/answer-format.ts";
import type { PiecePool } from "../encoding/byte-pieces.ts";
import { notAcceptable } from "../encoding/produced.ts";
import { objectOf, objectText } from "../encoding/object-text.ts";
import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import { tableOf } from "../encoding/write-table.ts";
import { json } from "../encoding/read-body.ts";
import type { Answer, Streaming } from "../http/answer.ts";
import { header, type ResourceExchange } from "../http/exchange.ts";
import type { StreamTurns } from "../http/stream-turns.ts";
import { partialMetadata } from "@keelson/kube";
import type { ApiMetrics } from "../metrics.ts";
import type { Registry } from "../resources/registry.ts";
import type { Writing, Written } from "../writes/write-request.ts";

/** The parts that verbs work with. */
export interface Verbs extends Writing {
  readonly kinds: BuiltinKinds;
  readonly codec: ProtobufCodec;
  /** What is served now. */
  readonly registry: Registry;
  readonly authorizer: Authorizer;
  readonly log: Log;
  readonly metrics: ApiMetrics;
  readonly streamTurns: StreamTurns;
  /** Where the bytes of long lists are put together. */
  readonly pool: PiecePool;
}

/** Answers a request about a resource, or throws what became a Status. */
export type Verb = (verbs: Verbs, exchange: ResourceExchange) => Promise<Answer | Streaming>;

/** The format in which a request wants its answer. */
export function formatFor(exchange: ResourceExchange, options: FormatOptions = {}): AnswerFormat {
  const { resource, query } = exchange;
  const accept = header(exchange, "accept");
  const userAgent = header(exchange, "user-agent");
  return answerFormat(resource, { accept, userAgent, query }, options);
}

/** An answer that is one stored object. */
export function objectAnswer(
  { codec, clock }: Verbs,
  { resource }: ResourceExchange,
  format: AnswerFormat,
  { code, ...written }: Written & { readonly code: number },
): Answer {
  const contentType = contentTypeOf(format.mediaType);
  if (format.asked === "PartialObjectMetadataList") {
    const { group, kind, isCustom } = resource;
    const type = isCustom
      ? "*unstructured.Unstructured"
      : `*${group === "" ? "core" : group.split(".", 1)[0]}.${kind}`;
    throw notAcceptable(
      `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`,
    );
  }
  if (format.shape === "object" && format.mediaType === json && !format.isPretty) {
    return { code, contentType, body: `${objectText(resource, written)}\n` };
  }
  const object = objectOf(resource, written);
  const value =
    format.shape === "table"
      ? tableOf(
          resource,
          { objects: [object], metadata: listLikeMetadata(written) },
          format,
          clock.now(),
        )
      : format.shape === "metadata"
        ? partialMetadata(object)
        : object;
  return { code, contentType, body: writeValue(value, format, codec) };
}

function listLikeMetadata({ revision }: Written): { readonly resourceVersion?: string } {
  return revision === undefined ? {} : { resourceVersion: String(revision) };
}
