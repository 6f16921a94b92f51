// Lists that an annotation holds as JSON: read late, and as Go's decoder reads them into structs that name their fields themselves.

import {
  isJsonArray,
  isJsonObject,
  readJson,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";

import { jsonTypeName } from "../../go-text/json-type-name.ts";
import { BadTime, parseTime, printTime } from "../../time/time.ts";
import { mismatchMessage } from "../../typed/decode-error.ts";
import { goJsonError } from "./go-json-error.ts";

/** What the items of a list are: the name of the Go struct, and its fields as objects name them with the types Go gives them. */
export interface ListedStruct {
  readonly name: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The items, or why the text is no such list. */
export function readAnnotatedList(
  text: string,
  struct: ListedStruct,
): readonly JsonObject[] | string {
  const problem = goJsonError(text);
  if (problem !== undefined) return problem;
  const value = readJson(text);
  if (value === null) return [];
  const type = `core.${struct.name}`;
  if (!isJsonArray(value)) return mismatch(value, `[]${type}`);
  try {
    const reader = new Reader(struct);
    const items = value.map((item) => reader.read(item, type));
    return reader.problem ?? items;
  } catch (error) {
    if (!(error instanceof BadTime)) throw error;
    return error.message;
  }
}

/** Go goes on behind a value of the wrong type and tells of the first; a wrong time ends it at once. */
class Reader {
  problem: string | undefined;
  readonly #struct: ListedStruct;
  readonly #names: ReadonlyMap<string, string>;

  constructor(struct: ListedStruct) {
    this.#struct = struct;
    // Go matches members whatever their case.
    this.#names = new Map(Object.keys(struct.fields).map((name) => [name.toLowerCase(), name]));
  }

  read(item: Json, type: string): JsonObject {
    if (item === null) return {};
    if (!isJsonObject(item)) {
      this.problem ??= mismatch(item, type);
      return {};
    }
    const own: MutableJsonObject = {};
    for (const [key, value] of Object.entries(item)) {
      const name = this.#names.get(key.toLowerCase());
      if (name !== undefined && value !== null) this.#readField(own, name, value);
    }
    return own;
  }

  #readField(own: MutableJsonObject, name: string, value: Json): void {
    const type = this.#struct.fields[name] ?? "string";
    const field = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const at = { struct: this.#struct.name, field };
    if (type === "time") {
      if (typeof value !== "string") throw new BadTime(mismatch(value, "string", at));
      own[name] = printTime(parseTime(value));
    } else if (typeof value === "string") own[name] = value;
    else this.problem ??= mismatch(value, type, at);
  }
}

function mismatch(value: Json, type: string, at = { struct: "", field: "" }): string {
  return mismatchMessage({ value: jsonTypeName(value), type, ...at });
}
