// Requests to an API server exactly as they are written: paths are not tidied up, and a body may be anything.

import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Agent, request as startRequest } from "node:https";

import { writeJson, type Json } from "@keelson/base";

import { until } from "./until.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS";

/** Where a server is, and who asks it: by certificate, by token, or as nobody in particular. */
export interface ClientOptions {
  readonly url: string;
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface WireOptions {
  readonly userAgent?: string;
  /** Kept alive, and used again. */
  readonly connectionsMax?: number;
  /** How long an answer may take, its body included. */
  readonly answerMsMax?: number;
}

/** An empty value takes a header away. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface WireRequest {
  readonly method?: Method | "FROB";
  /** With its query string. */
  readonly path: string;
  /** A string or bytes are sent as they are; anything else as JSON. */
  readonly body?: Json | Buffer;
  readonly headers?: RequestHeaders;
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
  readonly #answerMsMax: number;

  constructor(
    { url, ca, certificate, key, token }: ClientOptions,
    { userAgent = "keelson-test/1.0", connectionsMax = 64, answerMsMax = 40_000 }: WireOptions = {},
  ) {
    this.#url = new URL(url);
    this.#agent = new Agent({
      ca,
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
      keepAlive: true,
      maxSockets: connectionsMax,
      scheduling: "lifo",
    });
    this.#headers = {
      accept: "application/json",
      "user-agent": userAgent,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    this.#answerMsMax = answerMsMax;
  }

  /** Asks again where the server has only not been ready to take the request, as every client of Kubernetes does. */
  async send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(this.#answerMsMax)]);
    return await until(async () => {
      const answer = await this.#ask(request, deadline);
      return !isTurnedAway(answer) && answer;
    }, deadline);
  }

  async #ask(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const incoming = await this.open(request, signal);
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
      host: this.#url.hostname.replaceAll(/[[\]]/g, ""), // Of an address of IPv6 without its brackets.
      port: this.#url.port,
      path,
      agent: this.#agent,
      method,
      signal,
      headers: {
        ...this.#headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(body === undefined ? {} : { "content-length": body.byteLength }),
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

/** While a real server takes in a definition anew it calls itself shutting down, to whoever comes then, and has done nothing. */
function isTurnedAway({ status, bytes }: WireAnswer): boolean {
  return status === 503 && bytes.includes("apiserver is shutting down");
}

function withoutEmpty(headers: RequestHeaders): OutgoingHttpHeaders {
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
