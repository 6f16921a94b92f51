// A failure as its answer, in a format that the client reads.

import type { JsonObject } from "@keelson/base";
import { negotiateAnswer, StatusError, type ProtobufCodec } from "@keelson/kube";

import type { Answer } from "../http/answer.ts";
import { header, type Incoming } from "../http/exchange.ts";
import { isTrue } from "../http/request-info.ts";
import { json, protobuf, yaml } from "./read-body.ts";
import { writeValue } from "./write-value.ts";

export type EncodeFailure = (error: StatusError, incoming: Incoming) => Answer;

const formats = [json, yaml, protobuf].map((mediaType) => ({ mediaType, canStream: false }));

/** Writes the Status as YAML or protobuf for those who want nothing else. */
export function failureEncoder(codec: ProtobufCodec): EncodeFailure {
  return (error, incoming) => {
    const accept = header(incoming, "accept");
    const isPlain = accept === "" || accept === json || isTrue(incoming.query.get("watch"));
    const mediaType = isPlain ? json : acceptable(accept);
    const { status } = error;
    const retry = status.details?.retryAfterSeconds;
    const body =
      mediaType === json
        ? `${JSON.stringify(status)}\n`
        : writeValue(status as unknown as JsonObject, { mediaType, isPretty: false }, codec);
    return {
      code: status.code,
      contentType: mediaType,
      body,
      ...(retry === undefined || retry === 0 ? {} : { headers: { "retry-after": String(retry) } }),
    };
  };
}

/** Whatever else a client wants, a failure is told as JSON. */
function acceptable(accept: string): string {
  try {
    return negotiateAnswer(accept, { formats, canConvert: () => false }).mediaType;
  } catch (error) {
    if (error instanceof StatusError) return json;
    throw error;
  }
}
