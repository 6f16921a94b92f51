// A piece of a stream with the frame that HTTP/1.1 puts around it, in one buffer: what a thousand watchers get is framed once,
// and written as it is to each socket.

/** Eight digits whatever the size, so that there is room for it before anybody knows it; and the end of their line. */
export const chunkStart = 10;
/** The end of the line after the bytes. */
export const chunkEnd = 2;

export class Chunk {
  /** The bytes in their frame. */
  readonly framed: Buffer;
  /** To be called once they are out, if somebody wants to know. */
  readonly onWritten: (() => void) | undefined;

  private constructor(framed: Buffer, onWritten?: () => void) {
    this.framed = framed;
    this.onWritten = onWritten;
  }

  /** Takes a buffer over, in which the bytes stand with room for their frame on both sides. */
  static around(framed: Buffer, onWritten?: () => void): Chunk {
    const size = framed.length - chunkStart - chunkEnd;
    framed.write(`${size.toString(16).padStart(chunkStart - 2, "0")}\r\n`, 0, "latin1");
    framed.write("\r\n", framed.length - chunkEnd, "latin1");
    return new Chunk(framed, onWritten);
  }

  /** A copy of the bytes of a text. */
  static of(text: string): Chunk {
    const framed = Buffer.allocUnsafeSlow(chunkStart + Buffer.byteLength(text) + chunkEnd);
    framed.write(text, chunkStart);
    return Chunk.around(framed);
  }

  /** A copy of all of the bytes, one after the other. */
  static join(pieces: readonly Uint8Array[]): Chunk {
    const room = [Buffer.alloc(chunkStart), ...pieces, Buffer.alloc(chunkEnd)];
    return Chunk.around(Buffer.concat(room));
  }

  /** The bytes alone. */
  get bytes(): Buffer {
    return this.framed.subarray(chunkStart, this.framed.length - chunkEnd);
  }
}
