// The Go structs behind the built-in kinds: how an object is printed, and how it travels in protobuf.

import { goTypeOf } from "./go-type.ts";

/** Types with a JSON form of their own, not that of their fields: times, quantities and the like. */
export interface GoStruct {
  readonly name: string;
  /** Its JSON is not made of its fields: a string, a number, anything. */
  readonly isOpaque: boolean;
  /** In the order in which Go prints them. */
  readonly fields: readonly GoField[];
  /**
   * For a named list that is a message of its own in protobuf, with one repeated field 1, `items`;
   * in JSON it is just the list.
   */
  readonly element: FieldType | undefined;
}

export interface GoField {
  /** Its name in JSON. Of an inlined struct: its name in protobuf, if it travels there. */
  readonly name: string;
  /** Its number in protobuf; 0 if it does not travel. */
  readonly number: number;
  readonly type: FieldType;
  /** Nothing is told apart from zero. */
  readonly isPointer: boolean;
  /**
   * Printed even if zero: `{}` for a struct, `null` for a list, map or pointer, `0`, `""`, `false`.
   * Otherwise an empty or zero value is left out, a pointer only if it is nothing.
   */
  readonly isAlwaysPrinted: boolean;
  /** Its type as Go's messages call it. */
  readonly goType: string;
  /** Its fields stand, in JSON, among those of the struct around it; in protobuf it is a field. */
  readonly isInline: boolean;
}

export type Scalar = "string" | "bool" | "int32" | "int64" | "uint8" | "float64" | "bytes" | "any";

export type FieldType =
  | { readonly form: "scalar"; readonly scalar: Scalar }
  | { readonly form: "struct"; readonly struct: string }
  | { readonly form: "list"; readonly item: FieldType }
  | { readonly form: "map"; readonly value: FieldType };

/** A struct as `data/structs.json` has it. */
export interface StructRecord {
  readonly opaque?: boolean;
  readonly element?: string;
  /** Go's types of fields, where they are not what `goTypeOf` makes of the type. */
  readonly go?: Readonly<Record<string, string>>;
  readonly fields?: readonly (readonly [
    name: string,
    number: number,
    type: string,
    mark?: "always" | "inline",
  ])[];
}

export function completeStruct(name: string, record: StructRecord): GoStruct {
  return {
    name,
    isOpaque: record.opaque ?? false,
    element: record.element === undefined ? undefined : parseType(record.element),
    fields: (record.fields ?? []).map(([name, number, type, mark]) => ({
      name,
      number,
      type: parseType(type.replace(/^\*/, "")),
      isPointer: type.startsWith("*"),
      goType: record.go?.[name] ?? goTypeOf(type),
      isAlwaysPrinted: mark === "always",
      isInline: mark === "inline",
    })),
  };
}

const scalars: Readonly<Record<string, Scalar>> = {
  string: "string",
  bool: "bool",
  int: "int64",
  int32: "int32",
  int64: "int64",
  uint8: "uint8",
  float64: "float64",
  bytes: "bytes",
  interface: "any",
};

/** `[]core.v1.Container`, `map[string]bytes`, `int32`. */
function parseType(text: string): FieldType {
  if (text.startsWith("[]"))
    return { form: "list", item: parseType(text.slice(2).replace(/^\*/, "")) };
  const value = /^map\[\w+\]\*?(.*)$/.exec(text)?.[1];
  if (value !== undefined) return { form: "map", value: parseType(value) };
  const scalar = Object.hasOwn(scalars, text) ? scalars[text] : undefined;
  return scalar === undefined ? { form: "struct", struct: text } : { form: "scalar", scalar };
}
