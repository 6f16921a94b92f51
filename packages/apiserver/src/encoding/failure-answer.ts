// A failure as its answer, in a format that the client reads.

import type { JsonObject } from "@keelson/base";
import { negotiateAnswer, StatusError, type ProtobufCodec } from "@keelson/kube";

import type { Answer } from "../http/answer.ts";
import { header, type Incoming } from "../http/exchange.ts";
import { json, protobuf, yaml } from "./read-body.ts";
import { writeValue } from "./write-value.ts";

export type EncodeFailure = (error: StatusError, incoming: Incoming) => Answer;

const formats = [json, yaml, protobuf].map((mediaType) => ({ mediaType, canStream: false }));

/** Writes the Status as YAML or protobuf for those who want nothing else. */
export function failureEncoder(codec: ProtobufCodec): EncodeFailure {
  return (error, incoming) => {
    const accept = header(incoming, "accept");
    const wanted = accept === "" || accept === json ? json : acceptable(accept);
    const mediaType = wanted ?? json;
    const { status } = error;
    const retry = status.details?.retryAfterSeconds;
    const body =
      wanted === undefined
        ? JSON.stringify(status, undefined, 2)
        : mediaType === json
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

/** Undefined if nothing is: then a failure is told as JSON all the same, for people to read. */
function acceptable(accept: string): string | undefined {
  try {
    return negotiateAnswer(accept, { formats, canConvert: () => false }).mediaType;
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}
