// A body, as one piece.

import type { Readable } from "node:stream";

/** How large a body may be (KB 33). */
export const bodyBytesMax = 3 * 1024 * 1024;

/**
 * How much of a body is taken from whoever sends it, before it is known who that is: what the connection would hold anyway, so that
 * most bodies are read as they come.
 */
export const strangersBytesMax = 64 * 1024;

/** So many pieces become one: a piece costs some 500 bytes beside what it holds, and a client may send them of one byte. */
const piecesMax = 256;

/** What became of a body: it came, it is too large, or its client left. */
export type BodyOutcome = Uint8Array | "too large" | "gone";

/** Reads a body to its end and calls `done`, once. What is beyond the limit is let through to nowhere. */
export function receiveBody(
  body: Readable,
  length: string | readonly string[] | undefined,
  done: (outcome: BodyOutcome) => void,
): void {
  if (Number(length) > bodyBytesMax) {
    body.resume();
    done("too large");
    return;
  }
  const joined: Buffer[] = [];
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const finish = (outcome: BodyOutcome): void => {
    if (isOver) return;
    isOver = true;
    done(outcome);
  };
  body.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (isOver) return;
    if (bytes > bodyBytesMax) finish("too large");
    else pieces.push(chunk);
    if (pieces.length < piecesMax) return;
    joined.push(Buffer.concat(pieces));
    pieces = [];
  });
  body.on("end", () => {
    const all = [...joined, ...pieces];
    const [first] = all;
    finish(all.length === 1 && first !== undefined ? first : Buffer.concat(all));
  });
  body.on("error", () => finish("gone"));
  body.on("close", () => finish("gone"));
}
