// Objects to protobuf and back, by the data of `kinds/`.

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject, MutableJsonObject } from "@keelson/base";
import type { KindName } from "../kinds/builtin-kinds.ts";
import type { GoStruct } from "../kinds/go-struct.ts";
import { readEnvelope, writeEnvelope } from "./envelope.ts";
import { MessageReader } from "./message-reader.ts";
import { MessageWriter } from "./message-writer.ts";
import { ProtobufError, reading } from "./protobuf-error.ts";

/** What the codec needs to know of the built-in kinds; `BuiltinKinds` has it. */
export interface ProtobufKinds {
  typeOf(name: KindName): string | undefined;
  structOf(type: string): GoStruct | undefined;
}

/** Reads and writes the protobuf bodies of built-in kinds, their lists, and a few types that are no kinds. */
export class ProtobufCodec {
  readonly #kinds: ProtobufKinds;
  readonly #reader = new MessageReader((name) => this.#struct(name));
  readonly #writer = new MessageWriter((name) => this.#struct(name));

  constructor(kinds: ProtobufKinds) {
    this.#kinds = kinds;
  }

  /** The type behind an `apiVersion` and `kind`, or nothing if it has no protobuf. */
  typeOf(apiVersion: string, kind: string): string | undefined {
    const [first = "", second] = apiVersion.split("/");
    const group = second === undefined ? "" : first;
    const version = second ?? first;
    const found = this.#kinds.typeOf({ group, version, kind });
    if (found !== undefined) return found;
    // Options and Status have a version of their own in every group.
    const meta = `meta.v1.${kind}`;
    if (metaKinds.has(kind) && this.#kinds.structOf(meta) !== undefined) return meta;
    const item = kind.endsWith("List")
      ? this.#kinds.typeOf({ group, version, kind: kind.slice(0, -4) })
      : undefined;
    const list = item === undefined ? undefined : `${item}List`;
    return list !== undefined && this.#kinds.structOf(list) !== undefined ? list : undefined;
  }

  /**
   * The object in a body, printed as the real server prints it: what is zero and not a pointer is left out, unless
   * it is always there. Throws a `ProtobufError` for bytes that make no sense and kinds without protobuf.
   */
  decode(body: Uint8Array): MutableJsonObject {
    const { apiVersion, kind, raw } = readEnvelope(body);
    const type = this.#typeFor(apiVersion, kind);
    const fields = reading(() => this.#reader.read(type, raw)) as MutableJsonObject;
    const { apiVersion: _version, kind: _kind, ...rest } = fields;
    return { kind, apiVersion, ...rest };
  }

  /** The body of an object, with its envelope. Throws a `ProtobufError` where a value does not fit its field. */
  encode(object: JsonObject): Uint8Array<ArrayBuffer> {
    const { apiVersion, kind } = object;
    if (typeof apiVersion !== "string" || typeof kind !== "string") {
      throw new ProtobufError("an object needs an apiVersion and a kind");
    }
    const type = this.#typeFor(apiVersion, kind);
    return writeEnvelope({ apiVersion, kind, raw: this.#writer.write(type, object) });
  }

  /** An event of a watch, around the body of an object; it has no envelope of its own. */
  encodeWatchEvent(type: string, object: Uint8Array): Uint8Array<ArrayBuffer> {
    const extension = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(object).finish();
    return new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .string(type)
      .tag(2, WireType.LengthDelimited)
      .bytes(extension)
      .finish();
  }

  #typeFor(apiVersion: string, kind: string): string {
    const type = this.typeOf(apiVersion, kind);
    if (type === undefined) throw new ProtobufError(`${apiVersion} ${kind} has no protobuf`);
    return type;
  }

  #struct(name: string): GoStruct {
    const struct = this.#kinds.structOf(name);
    if (struct === undefined) throw new ProtobufError(`the type ${name} is not known`);
    return struct;
  }
}

const metaKinds = new Set(
  "DeleteOptions Status CreateOptions UpdateOptions PatchOptions GetOptions ListOptions PartialObjectMetadata PartialObjectMetadataList WatchEvent".split(
    " ",
  ),
);
