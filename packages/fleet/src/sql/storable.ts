// A cluster may say what no column holds: a NUL, or half of a surrogate pair. U+FFFD stands for each of them, so that one
// such object keeps nothing else of its cluster from being recorded. What users write is refused instead.

import { writeJson, type Json } from "@keelson/base";

export function storableText(text: string | null): string | null {
  return text === null ? null : text.replaceAll("\0", "\u{FFFD}");
}

/** JSON as a column takes it. Both can only be written as escapes, and almost nothing has one. */
export function storableJson(value: Json): string {
  const text = writeJson(value);
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text;
  // Every escape is read, so that a backslash that is itself escaped begins none.
  return text.replace(/\\(?:u(?:0000|d[89a-f]..)|.)/g, (escape) =>
    escape.length > 2 ? "\u{FFFD}" : escape,
  );
}
