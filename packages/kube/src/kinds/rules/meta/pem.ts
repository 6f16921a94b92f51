// PEM as Go's encoding/pem reads it.

import { bytesOfBase64 } from "../../../go-text/base64.ts";
import { trimSpace } from "../../../go-text/trim-space.ts";

/** One block of a PEM text. */
export interface PemBlock {
  readonly type: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
}

/** A block and what comes after it; the block is undefined where none is left. */
interface DecodedPem {
  readonly block: PemBlock | undefined;
  readonly rest: string;
}

const beginning = "-----BEGIN ";
const ending = "\n-----END ";
const dashes = "-----";

/**
 * The first block of a text whose characters are bytes. Broken blocks are passed over. A block ends at the first END and begins
 * at the last BEGIN before it, so that beginnings without an end cost no second look.
 */
export function decodePem(text: string): DecodedPem {
  const none = { block: undefined, rest: text };
  let from = 0;
  for (;;) {
    const end = text.indexOf(ending, from);
    if (end < 0) return none;
    const found = readBlock(text, { from, end });
    if (found === "nothing more") return none;
    if (found !== "broken") {
      return { block: found, rest: text.slice(lineAt(text, end + ending.length).next) };
    }
    from = end + ending.length;
  }
}

/** All blocks. */
export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let rest = text;
  for (;;) {
    const decoded = decodePem(rest);
    if (decoded.block === undefined) return blocks;
    blocks.push(decoded.block);
    rest = decoded.rest;
  }
}

/** The block that ends at `end` and begins not before `from`. */
function readBlock(
  text: string,
  { from, end }: { readonly from: number; readonly end: number },
): PemBlock | "broken" | "nothing more" {
  const begin = text.slice(from, end).lastIndexOf(beginning);
  if (begin < 0 || (begin > 0 && text[from + begin - 1] !== "\n")) return "broken";
  const first = lineAt(text, from + begin + beginning.length);
  if (!first.line.endsWith(dashes)) return "broken";
  const type = first.line.slice(0, -dashes.length);

  const headers = new Map<string, string>();
  let at = first.next;
  for (;;) {
    if (at >= text.length) return "nothing more";
    const { line, next } = lineAt(text, at);
    const colon = line.indexOf(":");
    if (colon < 0) break;
    headers.set(trimSpace(line.slice(0, colon)), trimSpace(line.slice(colon + 1)));
    at = next;
  }
  const trailer = end + ending.length;
  // Headers that run on into the last line, or beyond it.
  if (headers.size > 0 && end < at) return trailer < at ? "nothing more" : "broken";
  if (!text.startsWith(type + dashes, trailer)) return "broken";
  if (lineAt(text, trailer + type.length + dashes.length).line !== "") return "broken";
  const bytes = end > at ? bytesOfBase64(text.slice(at, end).replace(/[ \t]/g, "")) : "";
  if (bytes === undefined) return "broken";
  return { type, headers, bytes: Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)) };
}

/** The line from a place on without the blanks at its end, and where the next one begins. */
function lineAt(text: string, start: number): { readonly line: string; readonly next: number } {
  const found = text.indexOf("\n", start);
  let end = found < 0 ? text.length : found;
  if (found > start && text[end - 1] === "\r") end -= 1;
  while (end > start && (text[end - 1] === " " || text[end - 1] === "\t")) end -= 1;
  return { line: text.slice(start, end), next: found < 0 ? text.length : found + 1 };
}
