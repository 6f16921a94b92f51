/** What is wrong with a text: not JSON, nested too deeply, or an object says a key twice. */
export type JsonSyntaxErrorCode = "JSON_SYNTAX" | "JSON_TOO_DEEP" | "JSON_DUPLICATE_KEY";

/** A text that `readJson` refuses. The message names what was expected and where. */
export class JsonSyntaxError extends Error {
  readonly code: JsonSyntaxErrorCode;
  /** Where, in UTF-16 units from the start of the text. */
  readonly offset: number;
  /** The line of the offset, from 1. */
  readonly line: number;
  /** The column of the offset in its line, in UTF-16 units, from 1. */
  readonly column: number;

  /** `problem` starts the message; where it is and, for a syntax error, what stands there follow. */
  constructor(code: JsonSyntaxErrorCode, problem: string, place: { text: string; offset: number }) {
    const { text, offset } = place;
    const { line, column } = positionOf(text, offset);
    const found = code === "JSON_SYNTAX" ? `, found ${describe(text, offset)}` : "";
    super(`${problem} at line ${line}, column ${column}${found}`);
    this.name = "JsonSyntaxError";
    this.code = code;
    this.offset = offset;
    this.line = line;
    this.column = column;
  }
}

function positionOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  let newline = text.indexOf("\n");
  while (newline >= 0 && newline < offset) {
    line++;
    lineStart = newline + 1;
    newline = text.indexOf("\n", lineStart);
  }
  return { line, column: offset - lineStart + 1 };
}

function describe(text: string, offset: number): string {
  const codePoint = text.codePointAt(offset);
  return codePoint === undefined
    ? "the end of the text"
    : JSON.stringify(String.fromCodePoint(codePoint));
}
