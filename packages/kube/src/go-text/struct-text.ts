// Values as messages show them where the real server prints a struct of its own: all fields, in their order,
// by their names in Go.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";

import { compareBytes } from "./byte-order.ts";
import { goJson, goJsonString } from "./go-json.ts";
import { memberOf } from "../object/member.ts";

/** How a value is printed; what is absent is the type's zero. */
export type Shape =
  | "string"
  | "number"
  | "boolean"
  /** Whatever it is, as JSON; null where it is absent. */
  | "any"
  | { readonly pointer: Shape }
  | { readonly list: Shape }
  | { readonly map: Shape }
  /** Printed elsewhere. */
  | { readonly print: (value: Json) => string }
  | StructShape;

export interface StructShape {
  readonly fields: readonly (readonly [go: string, json: string, shape: () => Shape])[];
}

/**
 * A struct from a line a field: `Name name string`. The type is `string`, `number`, `boolean`, `any`, or a name among
 * `types`, with `*`, `[]` or `{}` before it for a pointer, a list and a map.
 */
export function struct(
  lines: string,
  types: Readonly<Record<string, () => Shape>> = {},
): StructShape {
  const fields = lines
    .trim()
    .split("\n")
    .map((line) => {
      const [go = "", json = "", type = ""] = line.trim().split(/\s+/);
      return [go, json, () => shapeOf(type, types)] as const;
    });
  return { fields };
}

function shapeOf(type: string, types: Readonly<Record<string, () => Shape>>): Shape {
  if (type.startsWith("*")) return { pointer: shapeOf(type.slice(1), types) };
  if (type.startsWith("[]")) return { list: shapeOf(type.slice(2), types) };
  if (type.startsWith("{}")) return { map: shapeOf(type.slice(2), types) };
  if (type === "string" || type === "number" || type === "boolean" || type === "any") return type;
  const named = Object.hasOwn(types, type) ? types[type] : undefined;
  if (named === undefined) throw new TypeError(`no shape is called ${type}`);
  return named();
}

/** The value as Go's encoder prints it. */
export function printShape(shape: Shape, value: Json | undefined): string {
  if (shape === "string") return goJsonString(typeof value === "string" ? value : "");
  if (shape === "number") return value === undefined || value === null ? "0" : goJson(value);
  if (shape === "boolean") return String(value === true);
  if (value === undefined || value === null) {
    return typeof shape === "object" && "fields" in shape ? printStruct(shape, {}) : "null";
  }
  if (shape === "any") return goJson(value);
  if ("print" in shape) return shape.print(value);
  if ("pointer" in shape) return printShape(shape.pointer, value);
  if ("list" in shape) {
    if (!isJsonArray(value)) return "null";
    return `[${value.map((item) => printShape(shape.list, item)).join(",")}]`;
  }
  if ("map" in shape) {
    if (!isJsonObject(value)) return "null";
    const members = Object.keys(value)
      .sort(compareBytes)
      .map((key) => `${goJsonString(key)}:${printShape(shape.map, value[key])}`);
    return `{${members.join(",")}}`;
  }
  return printStruct(shape, value);
}

function printStruct({ fields }: StructShape, value: Json): string {
  const object = isJsonObject(value) ? value : {};
  const members = fields.map(
    ([go, json, shape]) => `"${go}":${printShape(shape(), memberOf(object, json))}`,
  );
  return `{${members.join(",")}}`;
}
