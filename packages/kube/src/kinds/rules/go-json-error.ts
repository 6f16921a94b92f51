// Why a text is no JSON, in the words of Go's decoder: annotations and secrets hold JSON that is read late.

import { JsonSyntaxError, readJson } from "@keelson/base";

import { goJsonSyntax } from "../../go-text/json-syntax.ts";

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
