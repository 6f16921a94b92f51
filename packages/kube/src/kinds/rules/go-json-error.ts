// Why a text is no JSON, in the words of Go's decoder: annotations and secrets hold JSON that is read late.

import { JsonSyntaxError, readJson, type Json } from "@keelson/base";

import { goJsonSyntax } from "../../go-text/json-syntax.ts";
import { jsonTypeName } from "../../patch/merge-patch.ts";

/** What is wrong with the text; undefined if it is JSON. */
export function goJsonError(text: string): string | undefined {
  try {
    readJson(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return goJsonSyntax(text);
  }
}

/** The value of a text that is JSON. */
export function parseGoJson(text: string): Json {
  return readJson(text);
}

/** What Go's decoder calls a value that it did not want. */
export function goTypeOf(value: Json): string {
  return jsonTypeName(value);
}
