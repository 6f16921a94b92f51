// The marks of optional entries, `[?x]` and `{?k: x}`, which the parser does not know: they are taken out of the
// text before it is parsed, and whoever converts what it made looks up where they stood.

/** A text without its marks, each replaced by a space so that everything else stands where it stood. */
interface Unmarked {
  readonly text: string;
  /** Where the marks stood, rising. */
  readonly marks: readonly number[];
}

/**
 * Takes out each `?` that begins an entry: after a comma, after a brace, or after a bracket that does not follow a
 * value, for behind a value it is an index, `a[?i]`. Nowhere else can a question mark follow one of these.
 */
export function takeMarks(text: string): Unmarked {
  if (!text.includes("?")) return { text, marks: [] };
  const marks: number[] = [];
  let unmarked = "";
  let before = "";
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const isMark = token === "?" && (before === "[" || before === "," || before === "{");
    if (isMark) marks.push(index);
    unmarked += isMark ? " " : token;
    if (/^(?:\s|\/\/)/.test(token)) continue;
    before = token === "[" && endsValue(before) ? "index" : token;
  }
  return { text: unmarked, marks };
}

/** Strings and comments whole, words and numbers whole, everything else one character. */
const tokens =
  /\s+|\/\/[^\n]*|[rRbB]{0,2}(?:"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[\w.]*\w|[^]/g;

function endsValue(token: string): boolean {
  return /[\w\])}"']$/.test(token) && token !== "in";
}
