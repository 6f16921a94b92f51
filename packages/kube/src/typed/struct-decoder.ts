// From a JSON value to what Go would print of it, had it been put into a struct: compiled once for each struct.

import { isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { Json, MutableJson, MutableJsonObject } from "@keelson/base";

import { jsonTypeName } from "../go-text/json-type-name.ts";
import type { FieldType, GoField, GoStruct } from "../kinds/go-struct.ts";
import { readGoType } from "../kinds/go-type.ts";
import type { DecodeState, FieldName } from "./decode-state.ts";
import { opaqueType } from "./opaque.ts";
import { scalarDecoder, wellFormed, zeroScalar, type Decode } from "./scalars.ts";

/** A type that can be read, and what it prints where nothing was said. */
export interface TypeCodec {
  readonly decode: Decode;
  /** A fresh value each time. */
  readonly zero: () => MutableJson;
}

interface Field extends FieldName {
  readonly codec: TypeCodec;
  readonly isPointer: boolean;
  readonly isAlwaysPrinted: boolean;
}

/** A struct, made ready. Filled in after it is made: structs contain each other. */
interface StructPlan {
  readonly fields: Map<string, Field>;
  /** What is printed even if nobody says it. */
  readonly always: Field[];
}

/** Compiles structs, each once. */
export class StructDecoders {
  readonly #structOf: (name: string) => GoStruct;
  readonly #codecs = new Map<string, TypeCodec>();

  constructor(structOf: (name: string) => GoStruct) {
    this.#structOf = structOf;
  }

  /** The codec of a struct or other named type. */
  named(name: string): TypeCodec {
    const known = this.#codecs.get(name);
    if (known !== undefined) return known;
    const made = this.#opaque(name) ?? this.#struct(name);
    this.#codecs.set(name, made);
    return made;
  }

  #opaque(name: string): TypeCodec | undefined {
    const schema: Decode = (value, state) => this.named(schemaProps).decode(value, state);
    const opaque = opaqueType(name, { schema });
    return opaque === undefined ? undefined : { decode: opaque.decode, zero: () => opaque.zero };
  }

  #struct(name: string): TypeCodec {
    const struct = this.#structOf(name);
    const goType = name.split(".").slice(-2).join(".");
    if (struct.element !== undefined) {
      return this.#list(struct.element, { name: goType, inside: "string" });
    }
    const plan: StructPlan = { fields: new Map(), always: [] };
    const codec: TypeCodec = {
      decode: (value, state) => {
        if (isJsonObject(value)) return decodeStruct(plan, value, state);
        state.noteMismatch(jsonTypeName(value), goType);
        return {};
      },
      zero: () => zeroStruct(plan),
    };
    // Before its fields: it may contain itself.
    this.#codecs.set(name, codec);
    this.#addFields(plan, struct, { structName: goType.replace(/^.*\./, ""), goPrefix: "" });
    return codec;
  }

  #addFields(
    plan: StructPlan,
    struct: GoStruct,
    { structName, goPrefix }: { readonly structName: string; readonly goPrefix: string },
  ): void {
    for (const field of struct.fields) {
      if (field.isInline && field.type.form === "struct") {
        const embedded = field.type.struct;
        const goName = embedded.replace(/^.*\./, "");
        this.#addFields(plan, this.#structOf(embedded), {
          structName,
          goPrefix: `${goPrefix}${goName}.`,
        });
      } else {
        const made = this.#field(field, { structName, goPrefix });
        plan.fields.set(field.name, made);
        if (field.isAlwaysPrinted) plan.always.push(made);
      }
    }
  }

  #field(
    { name, type, isPointer, isAlwaysPrinted, goType }: GoField,
    { structName, goPrefix }: { readonly structName: string; readonly goPrefix: string },
  ): Field {
    const codec = this.#type(type, isPointer ? (readGoType(goType).inside ?? goType) : goType);
    return {
      name,
      goPath: goPrefix + name,
      structName,
      isPointer,
      isAlwaysPrinted,
      codec: isPointer ? { ...codec, zero: () => null } : codec,
    };
  }

  #type(type: FieldType, goType: string): TypeCodec {
    switch (type.form) {
      case "scalar": {
        const { scalar } = type;
        return { decode: scalarDecoder(scalar, goType), zero: () => zeroScalar(scalar) };
      }
      case "struct":
        return this.named(type.struct);
      case "list":
        return this.#list(type.item, readGoType(goType));
      case "map":
        return this.#map(type.value, readGoType(goType));
    }
  }

  #list(
    itemType: FieldType,
    { name, inside }: { readonly name: string; readonly inside: string | undefined },
  ): TypeCodec {
    const item = this.#type(itemType, inside ?? "");
    return {
      decode: (value, state) => {
        if (isJsonArray(value)) return decodeList(item, value, state);
        state.noteMismatch(jsonTypeName(value), name);
        return [];
      },
      zero: () => null,
    };
  }

  #map(
    valueType: FieldType,
    { name, inside }: { readonly name: string; readonly inside: string | undefined },
  ): TypeCodec {
    const codec = this.#type(valueType, inside ?? "");
    const isText = valueType.form === "scalar" && valueType.scalar === "string";
    return {
      decode: (value, state) => {
        if (isJsonObject(value)) {
          return (isText ? copyTexts(value, state) : undefined) ?? decodeMap(codec, value, state);
        }
        state.noteMismatch(jsonTypeName(value), name);
        return {};
      },
      zero: () => null,
    };
  }
}

const schemaProps = "apiextensions.v1.JSONSchemaProps";

function decodeStruct(
  plan: StructPlan,
  value: Readonly<Record<string, Json>>,
  state: DecodeState,
): MutableJsonObject {
  const printed: MutableJsonObject = {};
  const { steps } = state;
  const keys = Object.keys(value);
  const duplicates = state.duplicatesAmong(keys)?.filter(({ key }) => plan.fields.has(key));
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? "";
    if (duplicates !== undefined) state.noteDuplicates(duplicates, index);
    const field = plan.fields.get(key);
    if (field === undefined) {
      state.noteUnknown(key);
      continue;
    }
    const member = value[key] ?? null;
    if (member === null) continue; // As if it had not been said.
    steps.push(field);
    const decoded = field.codec.decode(member, state);
    steps.pop();
    if (field.isPointer || field.isAlwaysPrinted || !isEmpty(decoded)) printed[key] = decoded;
  }
  if (duplicates !== undefined) state.noteDuplicates(duplicates, keys.length);
  for (const field of plan.always) {
    if (printed[field.name] === undefined) printed[field.name] = field.codec.zero();
  }
  return printed;
}

function zeroStruct(plan: StructPlan): MutableJsonObject {
  const printed: MutableJsonObject = {};
  for (const field of plan.always) printed[field.name] = field.codec.zero();
  return printed;
}

/** What is left out of a field that is no pointer. Structs are always printed, so an object here is a map. */
function isEmpty(value: MutableJson): boolean {
  if (typeof value === "object") {
    if (value === null) return true;
    if (isJsonArray(value)) return value.length === 0;
    return isJsonObject(value) && Object.keys(value).length === 0;
  }
  return value === "" || value === 0 || value === false;
}

function decodeList(item: TypeCodec, values: readonly Json[], state: DecodeState): MutableJson[] {
  const { steps } = state;
  const depth = steps.length;
  const items: MutableJson[] = [];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? null;
    steps[depth] = index;
    items.push(value === null ? item.zero() : item.decode(value, state));
  }
  steps.length = depth;
  return items;
}

/** A map of texts, almost always; undefined if there is more to do than to copy it. */
function copyTexts(
  value: Readonly<Record<string, Json>>,
  state: DecodeState,
): MutableJsonObject | undefined {
  const keys = Object.keys(value);
  if (state.duplicatesAmong(keys) !== undefined) return undefined;
  for (const key of keys) {
    const text = value[key];
    if (typeof text !== "string" || !text.isWellFormed() || !key.isWellFormed()) return undefined;
  }
  return { ...value } as MutableJsonObject;
}

function decodeMap(
  codec: TypeCodec,
  members: Readonly<Record<string, Json>>,
  state: DecodeState,
): MutableJsonObject {
  const { steps } = state;
  const printed: MutableJsonObject = {};
  const keys = Object.keys(members);
  const duplicates = state.duplicatesAmong(keys);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? "";
    if (duplicates !== undefined) state.noteDuplicates(duplicates, index);
    const name = wellFormed(key);
    const value = members[key] ?? null;
    steps.push(key);
    setMember(printed, name, value === null ? codec.zero() : codec.decode(value, state));
    steps.pop();
  }
  if (duplicates !== undefined) state.noteDuplicates(duplicates, keys.length);
  return printed;
}
