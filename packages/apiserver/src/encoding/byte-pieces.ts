// Much text on its way to a socket, as bytes: a string that is handed to a TLS socket is copied several times more.

import { Chunk, chunkEnd, chunkStart } from "../http/chunk.ts";

/** How much is handed over at once: enough that a long list is few writes, and never in memory as a whole. */
const pieceBytes = 128 * 1024;

/** Texts one after the other, in pieces. */
export class BytePieces {
  #piece: Buffer | undefined;
  #end = 0;

  /** Adds a text. Answers what is full before it: that goes out first. */
  add(text: string): Chunk | undefined {
    // A unit of a string is three bytes at the most.
    const bytesMax = text.length * 3 + chunkEnd;
    const isFull = this.#piece !== undefined && this.#end + bytesMax > this.#piece.length;
    const full = isFull ? this.take() : undefined;
    if (this.#piece === undefined) {
      this.#piece = Buffer.allocUnsafeSlow(Math.max(pieceBytes, chunkStart + bytesMax));
      this.#end = chunkStart;
    }
    this.#end += this.#piece.write(text, this.#end);
    return full;
  }

  /** What there is, if anything, and begins anew. */
  take(): Chunk | undefined {
    const piece = this.#piece;
    this.#piece = undefined;
    if (piece === undefined || this.#end === chunkStart) return undefined;
    return Chunk.around(piece.subarray(0, this.#end + chunkEnd));
  }
}
