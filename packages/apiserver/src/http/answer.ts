// What goes back to the client.

import type { Sink } from "./sink.ts";

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

export function isStreaming(answer: Answer | Streaming): answer is Streaming {
  return "stream" in answer;
}
