// Where the pieces of a stream go: the socket of a client.

import { nextTick } from "node:process";
import type { Writable } from "node:stream";

import type { Chunk } from "./chunk.ts";
import { isGone, type Output } from "./wire.ts";

export interface Sink {
  /** Hands a piece to the socket. Undefined: it took it; else resolves when it takes more, or is gone. */
  write(piece: Chunk): Promise<void> | undefined;
}

/** A full buffer is waited for, a closed one never takes anything again. The head of the answer must have been said. */
export function sinkTo(
  output: Output,
  { isEndless }: { readonly isEndless: boolean },
  signal: AbortSignal,
): Sink {
  return {
    write: (piece) => {
      if (isGone(output)) return undefined;
      // What ends goes out with its head and its end, and not a packet more.
      if (!isEndless) corkTurn(output);
      const socket = socketOf(output);
      const target = socket ?? output;
      const { onWritten } = piece;
      if (target.write(socket === undefined ? piece.bytes : piece.framed, onWritten))
        return undefined;
      return new Promise((resolve) => {
        const go = (): void => {
          target.off("drain", go);
          target.off("close", go);
          signal.removeEventListener("abort", go);
          resolve();
        };
        target.once("drain", go);
        target.once("close", go);
        signal.addEventListener("abort", go, { once: true });
      });
    },
  };
}

/**
 * The socket of an answer of HTTP/1.1 in chunks. The answer itself would frame each piece again and hand three buffers to the
 * socket, which joins them: a copy of everything for every client. An answer that waits for its turn has no socket yet.
 */
function socketOf(output: Output): Writable | undefined {
  const isFramed = "chunkedEncoding" in output && output.chunkedEncoding && output.headersSent;
  return (isFramed ? output.socket : undefined) ?? undefined;
}

/** What is written to a socket of HTTP/1.1 until this turn ends goes out together. */
export function corkTurn(output: Output): void {
  const socket = "writeHead" in output ? output.socket : null;
  if (socket === null || socket.destroyed || socket.writableCorked > 0) return;
  socket.cork();
  nextTick(() => socket.uncork());
}
