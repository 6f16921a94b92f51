// What requests are made through: `Client`, seen by the parts that are built on it.

import type { Clock, Json, Random } from "@keelson/base";

import type { ClientMetrics } from "./metrics.ts";
import type { Priority } from "./rate-limiter.ts";
import type { HttpRequest, HttpResponse, LineStream } from "./transport.ts";

/** How one request is treated. */
export interface CallOptions {
  /** How long it may take in all, waiting and retries included. */
  readonly timeoutMs?: number;
  readonly priority?: Priority;
}

/** A request whose answer is read as a whole. */
export interface Call extends HttpRequest, CallOptions {
  /** Whether it asks which kinds there are: that it finds nothing then says nothing of what is known of them. */
  readonly isDiscovery?: boolean;
}

/** A request whose answer is a stream of lines. */
export interface StreamCall extends HttpRequest {
  /** How long the headers may take. */
  readonly openTimeoutMs: number;
  readonly priority?: Priority;
}

/** A successful answer. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  /** The body, if it is JSON. */
  readonly body: Json | undefined;
  readonly text: string;
  /** The texts of `Warning` headers. */
  readonly warnings: readonly string[];
}

export interface Caller {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: ClientMetrics;
  call(request: Call, signal: AbortSignal): Promise<Answer>;
  open(request: StreamCall, signal: AbortSignal): Promise<LineStream>;
}
