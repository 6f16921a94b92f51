// Requests to an API server, and their answers as they are read.

import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";

import {
  Wire,
  type ClientOptions,
  type Method,
  type RequestHeaders,
  type WireAnswer,
  type WireRequest,
} from "./wire.ts";

const options = { userAgent: "oracle-test/1.0", connectionsMax: 24, answerMsMax: 60_000 };

export interface Request {
  readonly method?: Method;
  /** With its query string: `/api/v1/namespaces?limit=1`. */
  readonly path: string;
  /** A string or bytes are sent as they are; anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: RequestHeaders;
}

export interface Response {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** The texts of the `Warning` headers, unquoted. */
  readonly warnings: readonly string[];
  /** The body as it came; numbers beyond 2^53 and `1.0` are still told apart here. */
  readonly text: string;
  readonly bytes: Buffer;
  /** The body parsed, if it is JSON, else undefined. */
  readonly body: unknown;
}

/** One user's requests. Answers of any status resolve; only a broken connection rejects. */
export class HttpClient implements Disposable {
  readonly #who: ClientOptions;
  readonly #wire: Wire;

  constructor(who: ClientOptions) {
    this.#who = who;
    this.#wire = new Wire(who, options);
  }

  async send(request: Request, signal: AbortSignal): Promise<Response> {
    const answer = await this.#wire.send(this.#tidied(request), signal);
    const { status, headers, bytes } = answer;
    const isJson = headers["content-type"]?.startsWith("application/json") === true;
    const text = bytes.toString("utf8");
    return {
      status,
      headers,
      warnings: warningsOf(answer),
      text,
      bytes,
      body: isJson && text !== "" ? (JSON.parse(text) as unknown) : undefined,
    };
  }

  /** Streams the lines of an answer, parsed: a watch. Ends quietly with `signal` or with the stream. */
  async *watch<Item = WatchItem>(path: string, signal: AbortSignal): AsyncGenerator<Item> {
    // A connection of its own: a watch would keep a shared one for ever.
    using wire = new Wire(this.#who, options);
    try {
      const incoming = await wire.open(this.#tidied({ path }), signal);
      for await (const line of createInterface(incoming)) yield JSON.parse(line) as Item;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#wire[Symbol.dispose]();
  }

  #tidied({ path, body, ...rest }: Request): WireRequest {
    const { pathname, search } = new URL(path, this.#who.url);
    return {
      ...rest,
      path: pathname + search,
      ...(body === undefined
        ? {}
        : {
            body: Buffer.isBuffer(body) || typeof body === "string" ? body : JSON.stringify(body),
          }),
    };
  }
}

/** What a watch streams. */
export interface WatchItem {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: Record<string, unknown>;
}

/** `299 - "unknown field \"spec.x\""` to `unknown field "spec.x"`, one for each header. */
function warningsOf({ rawHeaders }: WireAnswer): string[] {
  return rawHeaders
    .filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "warning")
    .map((value) => {
      const quoted = /^\d{3} \S+ "((?:[^"\\]|\\.)*)"/.exec(value)?.[1] ?? value;
      return quoted.replaceAll(/\\(.)/g, "$1");
    });
}
