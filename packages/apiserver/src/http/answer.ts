// What goes back to the client.

/** A whole answer. */
export interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is written piece by piece. */
export interface Streaming {
  readonly code: 200;
  readonly contentType: string;
  /** Whether it goes on for as long as somebody listens; otherwise it is only too long for one piece. */
  readonly isEndless: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes pieces until it is done or the signal aborts. Waits whenever the client is slow. */
  readonly stream: (sink: Sink, signal: AbortSignal) => Promise<void>;
}

/** Where the pieces of a stream go. */
export interface Sink {
  /** Hands a piece to the socket. Undefined: it took it; else resolves when it takes more, or is gone. */
  write(piece: string | Uint8Array): Promise<void> | undefined;
}

export function isStreaming(answer: Answer | Streaming): answer is Streaming {
  return "stream" in answer;
}
