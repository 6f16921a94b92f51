// Much text on its way to a socket, as bytes: a string that is handed to a TLS socket is copied several times more.

/** How much is handed over at once: enough that a long list is few writes, and never in memory as a whole. */
const pieceBytes = 128 * 1024;

/** Texts one after the other, in pieces. */
export class BytePieces {
  #piece: Buffer | undefined;
  #length = 0;

  /** Adds a text. Answers what is full before it: that goes out first. */
  add(text: string): Uint8Array | undefined {
    // A unit of a string is three bytes at the most.
    const bytesMax = text.length * 3;
    const isFull = this.#piece !== undefined && this.#length + bytesMax > this.#piece.length;
    const full = isFull ? this.take() : undefined;
    this.#piece ??= Buffer.allocUnsafeSlow(Math.max(pieceBytes, bytesMax));
    this.#length += this.#piece.write(text, this.#length);
    return full;
  }

  /** What there is, if anything, and begins anew. */
  take(): Uint8Array | undefined {
    const piece = this.#length === 0 ? undefined : this.#piece?.subarray(0, this.#length);
    this.#piece = undefined;
    this.#length = 0;
    return piece;
  }
}
