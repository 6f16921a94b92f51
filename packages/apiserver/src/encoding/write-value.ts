// Values in the formats of answers.

import {
  isJsonArray,
  isJsonObject,
  JsonNumber,
  writeJson,
  type Json,
  type JsonObject,
} from "@keelson/base";
import type { ProtobufCodec } from "@keelson/kube";
import { Document, Scalar, visit } from "yaml";

import { json, protobuf, yaml } from "./read-body.ts";

export interface ValueFormat {
  readonly mediaType: string;
  readonly isPretty: boolean;
}

/** A value that has no text yet. */
export function writeValue(
  value: JsonObject,
  { mediaType, isPretty }: ValueFormat,
  codec: ProtobufCodec,
): string | Uint8Array {
  if (mediaType === protobuf) return codec.encode(value);
  if (mediaType === yaml) return writeYaml(value);
  return isPretty ? indented(value, "") : `${writeJson(value)}\n`;
}

/** The content type of a format, as the real server names it. */
export function contentTypeOf(mediaType: string, { isWatch = false } = {}): string {
  if (!isWatch) return mediaType;
  return mediaType === json ? json : `${mediaType};stream=watch`;
}

function writeYaml(value: JsonObject): string {
  const document = new Document(value, { version: "1.1" });
  visit(document, {
    Scalar: (_, node) => {
      if (!(node.value instanceof JsonNumber)) return undefined;
      const number = new Scalar(Number(node.value.text));
      number.source = node.value.text;
      return number;
    },
  });
  return document.toString({ lineWidth: 0 });
}

function indented(value: Json, indent: string): string {
  const inner = `${indent}  `;
  if (isJsonArray(value)) {
    if (value.length === 0) return "[]";
    const items = value.map((item) => inner + indented(item, inner));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  if (!isJsonObject(value)) return writeJson(value);
  const names = Object.keys(value);
  if (names.length === 0) return "{}";
  const members = names.map(
    (name) => `${inner}${JSON.stringify(name)}: ${indented(value[name] ?? null, inner)}`,
  );
  return `{\n${members.join(",\n")}\n${indent}}`;
}
