// Structs that an annotation holds as JSON: read late, by Go's own decoder, which matches names whatever their case.

import {
  isJsonArray,
  isJsonObject,
  readJson,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";

import { jsonTypeName } from "../../go-text/json-type-name.ts";
import { BadTime, parseTime, printTime } from "../../time/time.ts";
import { mismatchMessage } from "../../typed/decode-error.ts";
import { numberName, wellFormed } from "../../typed/scalars.ts";
import { goJsonError } from "./go-json-error.ts";

/** A Go struct: its name, and its fields as Go's messages call them. What is read names them with a small first letter. */
interface AnnotatedStruct {
  readonly name: string;
  readonly fields: Readonly<Record<string, AnnotatedType>>;
}

/** A struct, a list of one, `bool`, `int64`, `time`, or the name of a type that is a text. */
type AnnotatedType = string | AnnotatedStruct | { readonly itemsOf: AnnotatedStruct };

/** The object, or why the text is none. */
export function readAnnotatedObject(text: string, struct: AnnotatedStruct): JsonObject | string {
  return read(text, (value, reader) => reader.readStruct(value, struct, root));
}

/** The items, or why the text is no such list. */
export function readAnnotatedList(
  text: string,
  struct: AnnotatedStruct,
): readonly JsonObject[] | string {
  return read(text, (value, reader) => reader.readList(value, struct, root));
}

function read<T>(text: string, readValue: (value: Json, reader: Reader) => T): T | string {
  const problem = goJsonError(text);
  if (problem !== undefined) return problem;
  const reader = new Reader();
  try {
    const value = readValue(readJson(text), reader);
    return reader.problem ?? value;
  } catch (error) {
    if (!(error instanceof BadTime)) throw error;
    return error.message;
  }
}

/** The struct around a value, and the fields that lead to it. */
interface Spot {
  readonly struct: string;
  readonly field: string;
}

const root: Spot = { struct: "", field: "" };

/** Go goes on behind a value of the wrong type and tells of the first; a wrong time ends it at once. */
class Reader {
  problem: string | undefined;

  readList(value: Json, struct: AnnotatedStruct, at: Spot): MutableJsonObject[] {
    if (isJsonArray(value)) return value.map((item) => this.readStruct(item, struct, at));
    if (value !== null) this.#note(value, `[]${struct.name}`, at);
    return [];
  }

  readStruct(value: Json, struct: AnnotatedStruct, at: Spot): MutableJsonObject {
    const own: MutableJsonObject = {};
    if (!isJsonObject(value)) {
      if (value !== null) this.#note(value, struct.name, at);
      return own;
    }
    const names = new Map(Object.keys(struct.fields).map((name) => [name.toLowerCase(), name]));
    for (const [key, member] of Object.entries(value)) {
      const name = names.get(key.toLowerCase());
      if (name === undefined || member === null) continue;
      const field = at.field === "" ? name : `${at.field}.${name}`;
      const spot = { struct: struct.name.slice(struct.name.indexOf(".") + 1), field };
      const found = this.#readField(member, struct.fields[name] ?? "string", spot);
      if (found !== undefined) own[name.charAt(0).toLowerCase() + name.slice(1)] = found;
    }
    return own;
  }

  #readField(value: Json, type: AnnotatedType, at: Spot): MutableJson | undefined {
    if (typeof type !== "string") {
      return "itemsOf" in type
        ? this.readList(value, type.itemsOf, at)
        : this.readStruct(value, type, at);
    }
    switch (type) {
      case "time":
        if (typeof value !== "string") throw new BadTime(mismatch(value, "string", at));
        return printTime(parseTime(value));
      case "bool":
        if (typeof value === "boolean") return value;
        break;
      case "int64":
        if (typeof value === "bigint" || Number.isSafeInteger(value)) return value as MutableJson;
        if (numberName(value) === "number -0") return 0;
        this.problem ??= mismatchMessage({ value: numberName(value), type, ...at });
        return undefined;
      default:
        if (typeof value === "string") return wellFormed(value);
    }
    this.#note(value, type, at);
    return undefined;
  }

  #note(value: Json, type: string, at: Spot): void {
    this.problem ??= mismatch(value, type, at);
  }
}

function mismatch(value: Json, type: string, at: Spot): string {
  return mismatchMessage({ value: jsonTypeName(value), type, ...at });
}
