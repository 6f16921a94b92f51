// Requests exactly as a case writes them: paths are not tidied up, and a body may be anything.

import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { type Agent, request as startRequest } from "node:https";

import { writeJson, type Json } from "@keelson/base";

import { connectionOf, type ClientOptions } from "../tools/connection.ts";
import type { Method } from "../tools/http-client.ts";

const requestTimeoutMs = 40_000;
const connectionsMax = 64;

export interface WireRequest {
  readonly method?: Method | "FROB";
  /** With its query string. */
  readonly path: string;
  /** A string or bytes are sent as they are; anything else as JSON. */
  readonly body?: Json | Buffer;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
}

/** One user's connections to a server. */
export class Wire implements Disposable {
  readonly #url: URL;
  readonly #agent: Agent;
  readonly #headers: OutgoingHttpHeaders;

  constructor(options: ClientOptions) {
    this.#url = new URL(options.url);
    const { agent, headers } = connectionOf(options, { connectionsMax });
    this.#agent = agent;
    this.#headers = headers;
  }

  async send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]);
    const incoming = await this.open(request, deadline);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    return {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers,
      rawHeaders: incoming.rawHeaders,
      bytes: Buffer.concat(chunks),
    };
  }

  /** Resolves with the answer's head; its body is the caller's to read. */
  async open(request: WireRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const { method = "GET", path, headers = {} } = request;
    const body = bytesOf(request.body);
    const outgoing = startRequest({
      host: this.#url.hostname,
      port: this.#url.port,
      path,
      agent: this.#agent,
      method,
      signal,
      headers: {
        accept: "application/json",
        "user-agent": "keelson-test/1.0",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(body === undefined ? {} : { "content-length": body.byteLength }),
        ...this.#headers,
        ...withoutEmpty(headers),
      },
    });
    for (const [name, value] of Object.entries(headers)) {
      if (value === "") outgoing.removeHeader(name);
    }
    outgoing.end(body);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    return incoming;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

/** An empty value takes a header away. */
function withoutEmpty(headers: WireRequest["headers"] & {}): OutgoingHttpHeaders {
  const entries = Object.entries(headers).filter(([, value]) => value !== "");
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
  );
}

function bytesOf(body: WireRequest["body"]): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : writeJson(body));
}
