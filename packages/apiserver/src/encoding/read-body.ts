// A body, whatever its format, as JSON.

import {
  isJsonObject,
  JsonSyntaxError,
  readJsonReport,
  type MutableJsonObject,
} from "@keelson/base";
import {
  failures,
  negotiateBody,
  ProtobufError,
  quote,
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

/** Reads a body of one of these formats. Throws a `StatusError`: 415, or 400 for what is not an object. */
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
  if (format === protobuf)
    return { value: fromProtobuf(body, codec), said: nothingTwice, duplicates: [] };
  return format === yaml ? fromYaml(utf8(body)) : fromJson(utf8(body));
}

/** Reads JSON. Throws a `BadRequest`. */
export function fromJson(text: string): ReadBody {
  try {
    const { value, ...said } = readJsonReport(text);
    return { value: objectOf(value, text), said, duplicates: said.duplicates.map(duplicateField) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw failures.badRequest(unreadable(text, error));
    throw error;
  }
}

/** A key that stands there twice, as strict decoding says it. */
export function duplicateField(path: string): string {
  return `duplicate field ${quote(path)}`;
}

/** Reads YAML, of which JSON is a part. Throws a `BadRequest`. */
export function fromYaml(text: string): ReadBody {
  try {
    const { value, duplicates } = readYaml(text);
    return {
      value: objectOf(value, text),
      said: nothingTwice,
      duplicates:
        duplicates.length === 0 ? [] : [`yaml: unmarshal errors:\n  ${duplicates.join("\n  ")}`],
    };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw failures.badRequest(`error converting YAML to JSON: ${error.message}`);
  }
}

function fromProtobuf(body: Uint8Array, codec: ProtobufCodec): MutableJsonObject {
  try {
    return codec.decode(body);
  } catch (error) {
    if (error instanceof ProtobufError) throw failures.badRequest(error.message);
    throw error;
  }
}

function objectOf(value: unknown, text: string): MutableJsonObject {
  if (isJsonObject(value as MutableJsonObject)) return value as MutableJsonObject;
  throw failures.badRequest(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${typeName(value, text)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  );
}

function typeName(value: unknown, text: string): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  return text.trim() === "null" ? "null" : "number";
}

function unreadable(text: string, error: JsonSyntaxError): string {
  if (error.code === "JSON_TOO_DEEP") return error.message;
  const shown =
    text.length > 1024 ? `${text.slice(0, 1024)} [truncated ${text.length - 1024} chars]` : text;
  return `couldn't get version/kind; json parse error: ${error.message}: ${JSON.stringify(shown)}`;
}

const decoder = new TextDecoder();

function utf8(body: Uint8Array): string {
  return decoder.decode(body);
}
