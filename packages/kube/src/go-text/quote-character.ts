import { quote } from "./quote.ts";

/** A character as Go's JSON reader shows it: `'x'`, `'\''`, `'"'`, `'\n'`. */
export function quoteCharacter(character: string): string {
  if (character === "'") return String.raw`'\''`;
  if (character === '"') return `'"'`;
  return `'${quote(character).slice(1, -1)}'`;
}
