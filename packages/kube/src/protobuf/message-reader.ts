// A message to JSON, in the order and with the omissions of the real server.

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { setMember, type MutableJson, type MutableJsonObject } from "@keelson/base";
import { encodeBase64 } from "../go-text/base64.ts";
import type { FieldType, GoField, GoStruct } from "../kinds/go-struct.ts";
import { integerJson } from "../schema/go-value.ts";
import { opaqueForm } from "./opaque.ts";
import { ProtobufError } from "./protobuf-error.ts";

/** How deeply messages may be nested. */
const depthMax = 512;

export class MessageReader {
  readonly #structOf: (name: string) => GoStruct;
  readonly #numbers = new Map<string, ReadonlyMap<number, GoField>>();
  #depth = 0;

  constructor(structOf: (name: string) => GoStruct) {
    this.#structOf = structOf;
  }

  /** The JSON of a message of a type. */
  read(type: string, bytes: Uint8Array): MutableJson {
    if (this.#depth >= depthMax) {
      throw new ProtobufError(`messages are nested more than ${depthMax} deep`);
    }
    this.#depth++;
    try {
      return this.#readType(type, bytes);
    } finally {
      this.#depth--;
    }
  }

  #readType(type: string, bytes: Uint8Array): MutableJson {
    const form = opaqueForm(type);
    if (form !== undefined) {
      return form.read(bytes, {
        read: (name, inner) => this.read(name, inner),
        write: () => new Uint8Array(),
      });
    }
    const struct = this.#structOf(type);
    if (struct.element !== undefined) return this.#readElements(struct.element, bytes);
    return this.#readStruct(struct, bytes);
  }

  #readElements(element: FieldType, bytes: Uint8Array): MutableJson[] {
    const reader = new BinaryReader(bytes);
    const items: MutableJson[] = [];
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      if (number === 1) items.push(this.#readSingle(element, reader, wire));
      else reader.skip(wire, number);
    }
    return items;
  }

  #fieldsOf(struct: GoStruct): ReadonlyMap<number, GoField> {
    const known = this.#numbers.get(struct.name);
    if (known !== undefined) return known;
    const fields = new Map(
      struct.fields.filter(({ number }) => number > 0).map((field) => [field.number, field]),
    );
    this.#numbers.set(struct.name, fields);
    return fields;
  }

  #readStruct(struct: GoStruct, bytes: Uint8Array): MutableJsonObject {
    const fields = this.#fieldsOf(struct);
    const found = new Map<GoField, MutableJson>();
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      const field = fields.get(number);
      if (field === undefined) reader.skip(wire, number);
      else this.#readField(field, reader, wire, found);
    }
    return this.#print(struct, found);
  }

  #readField(
    field: GoField,
    reader: BinaryReader,
    wire: WireType,
    found: Map<GoField, MutableJson>,
  ): void {
    const { type } = field;
    if (type.form === "list") {
      const items = (found.get(field) ?? []) as MutableJson[];
      if (isPackable(type.item) && wire === WireType.LengthDelimited) {
        const packed = new BinaryReader(reader.bytes());
        while (packed.pos < packed.len) {
          items.push(this.#readSingle(type.item, packed, wireOf(type.item)));
        }
      } else {
        items.push(this.#readSingle(type.item, reader, wire));
      }
      found.set(field, items);
    } else if (type.form === "map") {
      const entries = (found.get(field) ?? {}) as MutableJsonObject;
      const [key, value] = this.#readEntry(type.value, reader, wire);
      setMember(entries, key, value);
      found.set(field, entries);
    } else {
      found.set(field, this.#readSingle(type, reader, wire));
    }
  }

  #readEntry(
    type: FieldType,
    reader: BinaryReader,
    wire: WireType,
  ): [key: string, value: MutableJson] {
    if (wire !== WireType.LengthDelimited) throw wrongWire(wire);
    const entry = new BinaryReader(reader.bytes());
    let key = "";
    let value: MutableJson | undefined;
    while (entry.pos < entry.len) {
      const [number, wire] = entry.tag();
      if (number === 1 && wire === WireType.LengthDelimited) key = entry.string();
      else if (number === 2) value = this.#readSingle(type, entry, wire);
      else entry.skip(wire, number);
    }
    return [key, value ?? this.#zero(type)];
  }

  #readSingle(type: FieldType, reader: BinaryReader, wire: WireType): MutableJson {
    if (wire !== wireOf(type)) throw wrongWire(wire);
    switch (type.form) {
      case "struct":
        return this.read(type.struct, reader.bytes());
      case "list":
      case "map":
        throw new ProtobufError("a list of lists or maps has no protobuf");
      case "scalar":
        switch (type.scalar) {
          case "string":
            return reader.string();
          case "bool":
            return reader.bool();
          case "int32":
            return Number(BigInt.asIntN(32, BigInt(reader.int64())));
          case "uint8":
          case "int64":
            return integerJson(BigInt(reader.int64()));
          case "float64":
            return reader.double();
          case "bytes":
            return encodeBase64(reader.bytes());
          case "any":
            throw new ProtobufError("a field of any type has no protobuf");
        }
    }
  }

  /** What a field holds that was not sent. */
  #zero(type: FieldType): MutableJson {
    switch (type.form) {
      case "list":
      case "map":
        return null;
      case "struct": {
        const form = opaqueForm(type.struct);
        if (form !== undefined) return form.zero as MutableJson;
        const struct = this.#structOf(type.struct);
        return struct.element === undefined ? this.#print(struct, new Map()) : null;
      }
      case "scalar":
        if (type.scalar === "string") return "";
        if (type.scalar === "bool") return false;
        return type.scalar === "bytes" || type.scalar === "any" ? null : 0;
    }
  }

  #print(struct: GoStruct, found: ReadonlyMap<GoField, MutableJson>): MutableJsonObject {
    const printed: MutableJsonObject = {};
    for (const field of struct.fields) {
      const value = found.get(field);
      if (field.isInline) {
        const inner =
          value ?? (field.isPointer || field.number === 0 ? {} : this.#zero(field.type));
        for (const [name, member] of Object.entries(inner as MutableJsonObject)) {
          setMember(printed, name, member);
        }
      } else if (value === undefined) {
        if (!field.isAlwaysPrinted) continue;
        setMember(printed, field.name, field.isPointer ? null : this.#zero(field.type));
      } else if (field.isPointer || field.isAlwaysPrinted || !isZero(value, field.type)) {
        setMember(printed, field.name, value);
      }
    }
    return printed;
  }
}

/** Whether a value that is no pointer would be left out. */
function isZero(value: MutableJson, type: FieldType): boolean {
  if (value === null || value === "" || value === 0 || value === false) return true;
  if (type.form === "list") return (value as MutableJson[]).length === 0;
  if (type.form === "map") return Object.keys(value as MutableJsonObject).length === 0;
  return false;
}

function wrongWire(wire: WireType): ProtobufError {
  return new ProtobufError(`a field has the wire type ${wire}`);
}

function isPackable(type: FieldType): boolean {
  return type.form === "scalar" && type.scalar !== "string" && type.scalar !== "bytes";
}

export function wireOf(type: FieldType): WireType {
  if (type.form !== "scalar") return WireType.LengthDelimited;
  if (type.scalar === "float64") return WireType.Bit64;
  const isText = type.scalar === "string" || type.scalar === "bytes" || type.scalar === "any";
  return isText ? WireType.LengthDelimited : WireType.Varint;
}
