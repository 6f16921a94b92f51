// The envelope of protobuf bodies: four bytes, then a message that says what the object is and holds it.

import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ProtobufError, reading } from "./protobuf-error.ts";

/** An object in its envelope. */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The message of the object. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

const magic = [0x6b, 0x38, 0x73, 0x00]; // k8s\0

/** Whether a body begins as protobuf bodies do. */
export function isProtobuf(body: Uint8Array): boolean {
  return magic.every((byte, index) => body[index] === byte);
}

/** Opens the envelope. Throws a `ProtobufError` if it is none. */
export function readEnvelope(body: Uint8Array): Envelope {
  if (!isProtobuf(body))
    throw new ProtobufError("the body does not begin with the bytes 6b 38 73 00");
  return reading(() => {
    const reader = new BinaryReader(body.subarray(magic.length));
    let apiVersion = "";
    let kind = "";
    let raw: Uint8Array = new Uint8Array();
    let contentEncoding = "";
    let contentType = "";
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      if (wire !== WireType.LengthDelimited) reader.skip(wire, number);
      else if (number === 1) ({ apiVersion, kind } = readTypeMeta(reader.bytes()));
      else if (number === 2) raw = reader.bytes();
      else if (number === 3) contentEncoding = reader.string();
      else if (number === 4) contentType = reader.string();
      else reader.skip(wire, number);
    }
    return { apiVersion, kind, raw, contentEncoding, contentType };
  });
}

function readTypeMeta(bytes: Uint8Array): { readonly apiVersion: string; readonly kind: string } {
  const reader = new BinaryReader(bytes);
  let apiVersion = "";
  let kind = "";
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) apiVersion = reader.string();
    else if (number === 2 && wire === WireType.LengthDelimited) kind = reader.string();
    else reader.skip(wire, number);
  }
  return { apiVersion, kind };
}

/** Puts a message into its envelope. All fields are written, as the real server does. */
export function writeEnvelope({
  apiVersion,
  kind,
  raw,
  contentEncoding = "",
  contentType = "",
}: Pick<Envelope, "apiVersion" | "kind" | "raw"> & Partial<Envelope>): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(apiVersion);
  writer.tag(2, WireType.LengthDelimited).string(kind);
  writer.join();
  writer.tag(2, WireType.LengthDelimited).bytes(raw);
  writer.tag(3, WireType.LengthDelimited).string(contentEncoding);
  writer.tag(4, WireType.LengthDelimited).string(contentType);
  const message = writer.finish();
  const body = new Uint8Array(magic.length + message.length);
  body.set(magic);
  body.set(message, magic.length);
  return body;
}
