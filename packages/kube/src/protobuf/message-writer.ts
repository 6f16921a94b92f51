// JSON to a message. What is zero and not a pointer need not be said.

import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { FieldType, GoField, GoStruct, Scalar } from "../kinds/go-struct.ts";
import { floatOf, kindOf } from "../schema/go-value.ts";
import { wireOf } from "./message-reader.ts";
import { opaqueForm } from "./opaque.ts";
import { ProtobufError } from "./protobuf-error.ts";

const depthMax = 512;

export class MessageWriter {
  readonly #structOf: (name: string) => GoStruct;
  readonly #sorted = new Map<string, readonly GoField[]>();
  #depth = 0;

  constructor(structOf: (name: string) => GoStruct) {
    this.#structOf = structOf;
  }

  /** The message of a value of a type. */
  write(type: string, value: Json): Uint8Array {
    if (this.#depth >= depthMax)
      throw new ProtobufError(`the object is nested more than ${depthMax} deep`);
    this.#depth++;
    try {
      return this.#writeType(type, value);
    } finally {
      this.#depth--;
    }
  }

  #writeType(type: string, value: Json): Uint8Array {
    const form = opaqueForm(type);
    if (form !== undefined) {
      return form.write(value, {
        read: () => null,
        write: (name, inner) => this.write(name, inner),
      });
    }
    const struct = this.#structOf(type);
    const writer = new BinaryWriter();
    if (struct.element !== undefined) {
      for (const item of arrayOf(value, type))
        this.#writeSingle(writer, 1, struct.element, item, type);
      return writer.finish();
    }
    if (value === null) return writer.finish();
    if (!isJsonObject(value)) throw new ProtobufError(`${type} is made from an object`);
    this.#writeFields(writer, struct, value);
    return writer.finish();
  }

  #writeFields(writer: BinaryWriter, struct: GoStruct, object: JsonObject): void {
    for (const field of this.#fieldsOf(struct)) {
      if (field.isInline && field.type.form === "struct") {
        // Its fields stand among those of this object.
        const bytes = this.write(field.type.struct, object);
        if (bytes.length > 0 || !field.isPointer) writer.tag(field.number, 2).bytes(bytes);
        continue;
      }
      const value = Object.hasOwn(object, field.name) ? object[field.name] : undefined;
      if (value === undefined || value === null) continue;
      this.#writeField(writer, field, value);
    }
  }

  /** The fields that travel, in the order of their numbers. */
  #fieldsOf(struct: GoStruct): readonly GoField[] {
    const known = this.#sorted.get(struct.name);
    if (known !== undefined) return known;
    const fields = struct.fields
      .filter(({ number }) => number > 0)
      .sort((a, b) => a.number - b.number);
    this.#sorted.set(struct.name, fields);
    return fields;
  }

  #writeField(writer: BinaryWriter, field: GoField, value: Json): void {
    const { type, number, name } = field;
    if (type.form === "list") {
      for (const item of arrayOf(value, name))
        this.#writeSingle(writer, number, type.item, item, name);
    } else if (type.form === "map") {
      if (!isJsonObject(value)) throw new ProtobufError(`${name} is made from an object`);
      for (const [key, member] of Object.entries(value)) {
        writer.tag(number, 2).fork();
        writer.tag(1, 2).string(key);
        if (member !== null) this.#writeSingle(writer, 2, type.value, member, name);
        writer.join();
      }
    } else {
      this.#writeSingle(writer, number, type, value, name);
    }
  }

  #writeSingle(
    writer: BinaryWriter,
    number: number,
    type: FieldType,
    value: Json,
    name: string,
  ): void {
    switch (type.form) {
      case "struct":
        writer.tag(number, 2).bytes(this.write(type.struct, value));
        break;
      case "scalar":
        writer.tag(number, wireOf(type));
        writeScalar(writer, type.scalar, value, name);
        break;
      case "list":
      case "map":
        throw new ProtobufError(`${name} is a list of lists or maps, which has no protobuf`);
    }
  }
}

function arrayOf(value: Json, name: string): readonly Json[] {
  if (value === null) return [];
  if (!isJsonArray(value)) throw new ProtobufError(`${name} is made from a list`);
  return value;
}

function writeScalar(writer: BinaryWriter, scalar: Scalar, value: Json, name: string): void {
  const wrong = (): ProtobufError => new ProtobufError(`${name} is not of the type ${scalar}`);
  switch (scalar) {
    case "string":
      if (typeof value !== "string") throw wrong();
      writer.string(value);
      break;
    case "bool":
      if (typeof value !== "boolean") throw wrong();
      writer.bool(value);
      break;
    case "int32":
    case "uint8":
    case "int64": {
      if (kindOf(value) !== "integer") throw wrong();
      const integer = BigInt(value as number | bigint);
      const bits = scalar === "int64" ? 64 : 32;
      if (integer !== BigInt.asIntN(bits, integer)) throw wrong();
      writer.int64(integer);
      break;
    }
    case "float64":
      if (kindOf(value) !== "integer" && kindOf(value) !== "number") throw wrong();
      writer.double(floatOf(value));
      break;
    case "bytes":
      if (typeof value !== "string") throw wrong();
      writer.bytes(bytesOf(value, wrong));
      break;
    case "any":
      throw wrong();
  }
}

function bytesOf(base64: string, wrong: () => ProtobufError): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    throw wrong();
  }
}
