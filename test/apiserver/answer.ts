// What a server answered, for a case to go on with and for the comparison to keep.

import { isJsonObject, readJson, type Json, type JsonObject } from "@keelson/base";
import type { ProtobufCodec } from "@keelson/kube";
import { parse as parseYaml } from "yaml";

import type { WireAnswer } from "../tools/wire.ts";
import { textOf } from "./text-of.ts";

/** The headers that a client may depend on, besides those of which only the presence counts. */
const comparedHeaders = [
  "content-type",
  "cache-control",
  "retry-after",
  "allow",
  "location",
  "www-authenticate",
  "x-content-type-options",
  "content-encoding",
] as const;
const presentHeaders = ["audit-id", "etag"] as const;

export interface Answer {
  readonly status: number;
  readonly isAccepted: boolean;
  readonly headers: WireAnswer["headers"];
  readonly text: string;
  readonly bytes: Buffer;
  /** The body as JSON, whatever it was written in; null if it is no document. */
  readonly body: Json;
  /** Members of the body that cases go on with; empty where it has none. */
  readonly uid: string;
  readonly version: string;
  readonly name: string;
  /** Where the next page begins. */
  readonly token: string;
}

/** An answer as it is compared, before it is normalised. */
export interface Observed {
  readonly status: number;
  readonly headers: Readonly<Record<string, Json>>;
  readonly body: Json;
}

export function answerOf(answer: WireAnswer, codec: ProtobufCodec): Answer {
  const text = answer.bytes.toString("utf8");
  const body = documentOf(answer, text, codec);
  const object = isJsonObject(body) ? body : {};
  const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  return {
    status: answer.status,
    isAccepted: answer.status < 300,
    headers: answer.headers,
    text,
    bytes: answer.bytes,
    body: body ?? null,
    uid: textOf(metadata["uid"]),
    version: textOf(metadata["resourceVersion"]),
    name: textOf(metadata["name"]),
    token: textOf(metadata["continue"]),
  };
}

export function observe(answer: WireAnswer, { body, text }: Answer): Observed {
  return { status: answer.status, headers: headersOf(answer), body: body ?? text };
}

export function headersOf({
  headers,
  rawHeaders,
}: Pick<WireAnswer, "headers" | "rawHeaders">): JsonObject {
  const values: Record<string, Json> = {};
  for (const name of comparedHeaders) {
    const value = headers[name];
    if (value !== undefined) values[name] = value;
  }
  for (const name of presentHeaders)
    values[name] = headers[name] === undefined ? "absent" : "present";
  const warnings = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "warning",
  );
  if (warnings.length > 0) values["warning"] = warnings;
  return values;
}

/** Undefined if the body is text and no document. */
function documentOf(answer: WireAnswer, text: string, codec: ProtobufCodec): Json | undefined {
  const type = answer.headers["content-type"] ?? "";
  try {
    if (type.startsWith("application/json")) return text === "" ? undefined : readJson(text);
    if (type.startsWith("application/yaml")) return parseYaml(text) as Json;
    if (type.startsWith("application/vnd.kubernetes.protobuf")) return codec.decode(answer.bytes);
  } catch (error) {
    return `unreadable ${type}: ${String(error)}`;
  }
  return undefined;
}
