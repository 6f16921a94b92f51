// Patterns as the real server reads them: RE2, whose time is linear in the text whatever the pattern says.
// JavaScript's own engine backtracks and has another syntax; it never sees a user's pattern.

import { RE2JS, RE2JSException } from "re2js";

/** A compiled pattern, or why it is none. */
export type Pattern =
  | { readonly matches: (text: string) => boolean; readonly error?: undefined }
  | { readonly matches?: undefined; readonly error: string };

/** Compiles a pattern; a match anywhere in the text counts. */
export function compilePattern(source: string): Pattern {
  try {
    const compiled = RE2JS.compile(source);
    return { matches: (text) => compiled.test(text) };
  } catch (error) {
    if (error instanceof RE2JSException) return { error: error.message };
    throw error;
  }
}
