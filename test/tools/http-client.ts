// Requests to an API server over a few kept-alive connections.

import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Agent, request as startRequest } from "node:https";
import { createInterface } from "node:readline";

import { connectionOf, type ClientOptions } from "./connection.ts";

const requestTimeoutMs = 60_000;
const connectionsMax = 24;

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";

export interface Request {
  readonly method?: Method;
  /** With its query string: `/api/v1/namespaces?limit=1`. */
  readonly path: string;
  /** A string or bytes are sent as they are; anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: OutgoingHttpHeaders;
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
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #headers: OutgoingHttpHeaders;

  constructor(options: ClientOptions) {
    this.#url = new URL(options.url);
    const { agent, headers } = connectionOf(options, { connectionsMax });
    this.#agent = agent;
    this.#headers = headers;
  }

  async send(request: Request, signal: AbortSignal): Promise<Response> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]);
    const incoming = await this.#start(request, this.#agent, deadline);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const isJson = incoming.headers["content-type"]?.startsWith("application/json") === true;
    const text = bytes.toString("utf8");
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      warnings: warningsOf(incoming),
      text,
      bytes,
      body: isJson && text !== "" ? (JSON.parse(text) as unknown) : undefined,
    };
  }

  /** Streams the lines of an answer, parsed: a watch. Ends quietly with `signal` or with the stream. */
  async *watch<Item = WatchItem>(path: string, signal: AbortSignal): AsyncGenerator<Item> {
    // A connection of its own: a watch would keep a shared one for ever.
    using agent = new DisposableAgent(this.#agent.options);
    try {
      const incoming = await this.#start({ path }, agent, signal);
      for await (const line of createInterface(incoming)) yield JSON.parse(line) as Item;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #start(request: Request, agent: Agent, signal: AbortSignal): Promise<IncomingMessage> {
    const { method = "GET", path, headers = {} } = request;
    const body = bodyOf(request.body);
    const outgoing = startRequest(new URL(path, this.#url), {
      agent,
      method,
      signal,
      headers: {
        accept: "application/json",
        "user-agent": "oracle-test/1.0",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(body === undefined ? {} : { "content-length": body.byteLength }),
        ...this.#headers,
        ...headers,
      },
    });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    return incoming;
  }
}

/** What a watch streams. */
export interface WatchItem {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: Record<string, unknown>;
}

class DisposableAgent extends Agent implements Disposable {
  [Symbol.dispose](): void {
    this.destroy();
  }
}

function bodyOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** `299 - "unknown field \"spec.x\""` to `unknown field "spec.x"`, one for each header. */
function warningsOf({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders
    .filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "warning")
    .map((value) => {
      const quoted = /^\d{3} \S+ "((?:[^"\\]|\\.)*)"/.exec(value)?.[1] ?? value;
      return quoted.replaceAll(/\\(.)/g, "$1");
    });
}
