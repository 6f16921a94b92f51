// A body, whatever its format, as JSON.

import {
  isJsonObject,
  JsonSyntaxError,
  readJsonReport,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";
import {
  failures,
  goJsonSyntax,
  isProtobuf,
  jsonTypeName,
  negotiateBody,
  ProtobufError,
  quote,
  refuseDeepNesting,
  type DuplicateKeys,
  type ProtobufCodec,
} from "@keelson/kube";

import { readYaml, YamlError } from "./read-yaml.ts";

export const json = "application/json";
export const yaml = "application/yaml";
export const protobuf = "application/vnd.kubernetes.protobuf";

/** What built-in kinds are read from, and what custom ones are. */
export const builtinFormats: readonly string[] = [json, yaml, protobuf];
export const customFormats: readonly string[] = [json, yaml];

export interface ReadBody {
  readonly value: MutableJsonObject;
  /** Keys that stand there twice, for whoever reads the value as an object of a kind. */
  readonly said: DuplicateKeys;
  /** What strict decoding says of them where they are not keys of an object: in YAML. */
  readonly duplicates: readonly string[];
}

const nothingTwice: DuplicateKeys = { duplicates: [], membersBefore: [] };

/** A body that is not an object of any kind; the words are those of the real server's decoder. */
export class UnreadableBody extends Error {
  readonly code = "UNREADABLE_BODY";
  override readonly name = "UnreadableBody";
}

/** Reads a body of one of these formats. Throws a `StatusError` (415) for another, an `UnreadableBody` for nonsense. */
export function readBody(
  body: Uint8Array,
  {
    contentType,
    formats,
    codec,
  }: {
    readonly contentType: string;
    readonly formats: readonly string[];
    readonly codec: ProtobufCodec;
  },
): ReadBody {
  const format = negotiateBody(contentType, formats);
  if (format === protobuf) {
    return { value: fromProtobuf(body, codec), said: nothingTwice, duplicates: [] };
  }
  return format === yaml ? fromYaml(utf8(body)) : fromJson(utf8(body));
}

/** Reads JSON. Throws an `UnreadableBody`. */
export function fromJson(text: string): ReadBody {
  try {
    const { value, ...said } = readJsonReport(text);
    return { value: objectOf(value), said, duplicates: said.duplicates.map(duplicateField) };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    if (error.code === "JSON_TOO_DEEP") throw failures.badRequest(error.message);
    throw new UnreadableBody(`${noKind}: ${goJsonSyntax(text)}`);
  }
}

const noKind = "couldn't get version/kind; json parse error";

/** A key that stands there twice, as strict decoding says it. */
export function duplicateField(path: string): string {
  return `duplicate field ${quote(path)}`;
}

/** Reads YAML, of which JSON is a part. Throws an `UnreadableBody`. */
export function fromYaml(text: string): ReadBody {
  try {
    const { value, duplicates } = readYaml(text);
    return {
      value: objectOf(value),
      said: nothingTwice,
      duplicates,
    };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new UnreadableBody(error.message);
  }
}

function fromProtobuf(body: Uint8Array, codec: ProtobufCodec): MutableJsonObject {
  let value: MutableJsonObject;
  try {
    value = codec.decode(body);
  } catch (error) {
    if (body.byteLength === 0) throw new UnreadableBody("empty data");
    if (!isProtobuf(body)) throw new UnreadableBody(notProtobuf);
    if (body.byteLength === protobufPrefixBytes) throw new UnreadableBody("empty body");
    if (error instanceof ProtobufError) throw new UnreadableBody(error.message);
    throw error;
  }
  // Its messages are counted as they are read, but one may be several levels of JSON, or hold some.
  refuseDeepNesting(value);
  return value;
}

const protobufPrefixBytes = 4;
const notProtobuf =
  "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";

/** What every object has; `null` is one that says nothing. */
function objectOf(value: MutableJson): MutableJsonObject {
  if (value === null) return {};
  if (!isJsonObject(value)) {
    throw new UnreadableBody(
      `${noKind}: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  for (const name of ["apiVersion", "kind"]) {
    const member = value[name] ?? "";
    if (typeof member === "string") continue;
    throw new UnreadableBody(
      `${noKind}: json: cannot unmarshal ${jsonTypeName(member)} into Go struct field .${name} of type string`,
    );
  }
  return value;
}

const decoder = new TextDecoder();

function utf8(body: Uint8Array): string {
  return decoder.decode(body);
}
