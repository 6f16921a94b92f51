// Much text on its way to a socket, as bytes: a string that is handed to a TLS socket is copied several times more.

import { Chunk, chunkEnd, chunkStart } from "../http/chunk.ts";

/** How much is handed over at once: enough that a long list is few writes, and never in memory as a whole. */
const pieceBytes = 128 * 1024;
/** How many buffers wait to be used again. New ones for every list would make the collector look at the whole heap again and again. */
const sparePiecesMax = 32;

/** Buffers for pieces, used again once their bytes are out. */
export class PiecePool {
  readonly #spare: Buffer[] = [];

  /** A buffer of at least that many bytes. */
  take(bytes: number): Buffer {
    const spare = bytes > pieceBytes ? undefined : this.#spare.pop();
    return spare ?? Buffer.allocUnsafeSlow(Math.max(pieceBytes, bytes));
  }

  /** Takes a buffer back that nobody reads or writes any more. */
  give(buffer: Buffer): void {
    const isUsual = buffer.length === pieceBytes;
    if (isUsual && this.#spare.length < sparePiecesMax) this.#spare.push(buffer);
  }
}

/** Texts one after the other, in pieces. */
export class BytePieces {
  readonly #pool: PiecePool;
  #piece: Buffer | undefined;
  #end = 0;

  constructor(pool: PiecePool) {
    this.#pool = pool;
  }

  /** Adds a text. Answers what is full before it: that goes out first. */
  add(text: string): Chunk | undefined {
    // A unit of a string is three bytes at the most.
    const bytesMax = text.length * 3 + chunkEnd;
    const isFull = this.#piece !== undefined && this.#end + bytesMax > this.#piece.length;
    const full = isFull ? this.take() : undefined;
    if (this.#piece === undefined) {
      this.#piece = this.#pool.take(chunkStart + bytesMax);
      this.#end = chunkStart;
    }
    this.#end += this.#piece.write(text, this.#end);
    return full;
  }

  /** What there is, if anything, and begins anew. */
  take(): Chunk | undefined {
    const piece = this.#piece;
    this.#piece = undefined;
    if (piece === undefined) return undefined;
    const onWritten = (): void => this.#pool.give(piece);
    return Chunk.around(piece.subarray(0, this.#end + chunkEnd), onWritten);
  }
}
