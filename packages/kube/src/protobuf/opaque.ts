// Types whose JSON is not made of their fields.

import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isJsonArray, isJsonObject, readJson, writeJson, JsonSyntaxError } from "@keelson/base";
import type { Json, MutableJson } from "@keelson/base";
import { floorDiv, formatTimestamp, parseTimestamp } from "../cel/timestamps.ts";
import { kindOf, scalarText } from "../schema/go-value.ts";
import { ProtobufError } from "./protobuf-error.ts";

/** How the structs around it read and write the messages inside an opaque one. */
interface Nested {
  readonly read: (type: string, bytes: Uint8Array) => MutableJson;
  readonly write: (type: string, value: Json) => Uint8Array;
}

/** The two forms of an opaque type. `zero` is its JSON when the message is empty. */
interface OpaqueForm {
  readonly zero: Json;
  readonly read: (bytes: Uint8Array, nested: Nested) => MutableJson;
  readonly write: (value: Json, nested: Nested) => Uint8Array;
}

/** The forms of an opaque type, by its name. */
export function opaqueForm(type: string): OpaqueForm | undefined {
  return forms.get(type);
}

const schemaProps = "apiextensions.v1.JSONSchemaProps";
const text = new TextDecoder();
const bytesOf = new TextEncoder();

type Field = (reader: BinaryReader, wire: WireType) => boolean;

/** Reads the fields that are known; `false` from one means it had another wire type. */
function readFields(bytes: Uint8Array, fields: Readonly<Record<number, Field>>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (fields[number]?.(reader, wire) !== true) reader.skip(wire, number);
  }
}

function varint(take: (value: bigint) => void): Field {
  return (reader, wire) => {
    if (wire !== WireType.Varint) return false;
    take(BigInt(reader.int64()));
    return true;
  };
}

function delimited(take: (bytes: Uint8Array) => void): Field {
  return (reader, wire) => {
    if (wire !== WireType.LengthDelimited) return false;
    take(reader.bytes());
    return true;
  };
}

function timeForm({ isMicro }: { readonly isMicro: boolean }): OpaqueForm {
  return {
    zero: null,
    read: (bytes) => {
      if (bytes.length === 0) return null;
      let seconds = 0n;
      let nanos = 0n;
      readFields(bytes, {
        1: varint((value) => (seconds = value)),
        2: varint((value) => (nanos = BigInt.asIntN(32, value))),
      });
      // More than a second of them, or less than none, moves the seconds.
      const micros = isMicro ? seconds * million + nanos / 1000n : seconds * million;
      const whole = floorDiv(micros, million);
      if (whole < -62_135_596_800n || whole > 253_402_300_799n) {
        throw new ProtobufError(`${whole} seconds is no time between the years 1 and 9999`);
      }
      const text = formatTimestamp(whole * billion);
      if (!isMicro) return text;
      return text.replace("Z", `.${String(micros - whole * million).padStart(6, "0")}Z`);
    },
    write: (value) => {
      if (value === null) return new Uint8Array();
      const nanos = typeof value === "string" ? parseTimestamp(value) : undefined;
      if (nanos === undefined) throw new ProtobufError(`${shown(value)} is not a time`);
      const seconds = floorDiv(nanos, billion);
      const rest = isMicro ? ((nanos - seconds * billion) / 1000n) * 1000n : 0n;
      const writer = new BinaryWriter();
      writer.tag(1, WireType.Varint).int64(seconds);
      writer.tag(2, WireType.Varint).int32(Number(rest));
      return writer.finish();
    },
  };
}

const million = 1_000_000n;
const billion = 1_000_000_000n;

function shown(value: Json): string {
  return writeJson(value).slice(0, 100);
}

const quantity: OpaqueForm = {
  zero: "0",
  read: (bytes) => {
    let value = "";
    readFields(bytes, { 1: delimited((found) => (value = text.decode(found))) });
    return value === "" ? "0" : value;
  },
  write: (value) => {
    const isNumber = kindOf(value) === "integer" || kindOf(value) === "number";
    if (typeof value !== "string" && !isNumber) {
      throw new ProtobufError(`${shown(value)} is not a quantity`);
    }
    const writer = new BinaryWriter();
    writer.tag(1, WireType.LengthDelimited).string(scalarText(value));
    return writer.finish();
  },
};

const intOrString: OpaqueForm = {
  zero: 0,
  read: (bytes) => {
    let type = 0n;
    let integer = 0n;
    let string = "";
    readFields(bytes, {
      1: varint((value) => (type = value)),
      2: varint((value) => (integer = BigInt.asIntN(32, value))),
      3: delimited((value) => (string = text.decode(value))),
    });
    return type === 0n ? Number(integer) : string;
  },
  write: (value) => {
    const writer = new BinaryWriter();
    const isText = typeof value === "string";
    if (
      !isText &&
      (kindOf(value) !== "integer" ||
        BigInt.asIntN(32, BigInt(value as number)) !== BigInt(value as number))
    ) {
      throw new ProtobufError(`${shown(value)} is neither a 32-bit integer nor a string`);
    }
    writer.tag(1, WireType.Varint).int64(isText ? 1 : 0);
    writer.tag(2, WireType.Varint).int32(isText ? 0 : Number(value));
    writer.tag(3, WireType.LengthDelimited).string(isText ? value : "");
    return writer.finish();
  },
};

/** JSON as bytes, field 1; nothing there is null. */
const rawJson: OpaqueForm = {
  zero: null,
  read: (bytes) => {
    let raw: Uint8Array = new Uint8Array();
    readFields(bytes, { 1: delimited((value) => (raw = value)) });
    return raw.length === 0 ? null : parseRaw(raw);
  },
  write: (value) => {
    const writer = new BinaryWriter();
    if (value !== null) {
      writer.tag(1, WireType.LengthDelimited).bytes(bytesOf.encode(writeJson(value)));
    }
    return writer.finish();
  },
};

function parseRaw(raw: Uint8Array): MutableJson {
  try {
    return readJson(text.decode(raw));
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      throw new ProtobufError(`an embedded value is not JSON: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

const schemaOrArray: OpaqueForm = {
  zero: null,
  read: (bytes, nested) => {
    let single: MutableJson = null;
    const several: MutableJson[] = [];
    readFields(bytes, {
      1: delimited((value) => (single = nested.read(schemaProps, value))),
      2: delimited((value) => several.push(nested.read(schemaProps, value))),
    });
    return several.length > 0 ? several : single;
  },
  write: (value, nested) => {
    const writer = new BinaryWriter();
    if (isJsonArray(value)) {
      for (const item of value) {
        writer.tag(2, WireType.LengthDelimited).bytes(nested.write(schemaProps, item));
      }
    } else if (isJsonObject(value)) {
      writer.tag(1, WireType.LengthDelimited).bytes(nested.write(schemaProps, value));
    }
    return writer.finish();
  },
};

const schemaOrBool: OpaqueForm = {
  zero: false,
  read: (bytes, nested) => {
    let allows = false;
    let schema: MutableJson = null;
    readFields(bytes, {
      1: varint((value) => (allows = value !== 0n)),
      2: delimited((value) => (schema = nested.read(schemaProps, value))),
    });
    return schema ?? allows;
  },
  write: (value, nested) => {
    const writer = new BinaryWriter();
    writer.tag(1, WireType.Varint).bool(value !== false);
    if (isJsonObject(value)) {
      writer.tag(2, WireType.LengthDelimited).bytes(nested.write(schemaProps, value));
    }
    return writer.finish();
  },
};

const schemaOrStrings: OpaqueForm = {
  zero: null,
  read: (bytes, nested) => {
    let schema: MutableJson = null;
    const property: string[] = [];
    readFields(bytes, {
      1: delimited((value) => (schema = nested.read(schemaProps, value))),
      2: delimited((value) => property.push(text.decode(value))),
    });
    return property.length > 0 ? property : schema;
  },
  write: (value, nested) => {
    const writer = new BinaryWriter();
    if (isJsonArray(value)) {
      for (const item of value) writer.tag(2, WireType.LengthDelimited).string(scalarText(item));
    } else if (isJsonObject(value)) {
      writer.tag(1, WireType.LengthDelimited).bytes(nested.write(schemaProps, value));
    }
    return writer.finish();
  },
};

const forms = new Map<string, OpaqueForm>([
  ["meta.v1.Time", timeForm({ isMicro: false })],
  ["meta.v1.MicroTime", timeForm({ isMicro: true })],
  ["quantity.Quantity", quantity],
  ["intstr.IntOrString", intOrString],
  ["runtime.RawExtension", rawJson],
  ["meta.v1.FieldsV1", rawJson],
  ["apiextensions.v1.JSON", rawJson],
  ["apiextensions.v1.JSONSchemaPropsOrArray", schemaOrArray],
  ["apiextensions.v1.JSONSchemaPropsOrBool", schemaOrBool],
  ["apiextensions.v1.JSONSchemaPropsOrStringArray", schemaOrStrings],
]);
