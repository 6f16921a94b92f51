// Requests over HTTP: connections that follow the credentials, and answers as they come. No retries but one: with
// new credentials after a 401.

import { createHash } from "node:crypto";

import { isCancellation, isDistrust, type Clock } from "@keelson/base";
import { errors, request as sendRequest, type Dispatcher } from "undici";

import type { Access, Credential, TlsIdentity } from "./credentials.ts";
import { Connections } from "./connections.ts";
import { askingAtWrite, dispatcherOf, Unwritten } from "./dispatcher.ts";
import { ConnectionFailed, UnexpectedAnswer } from "./errors.ts";
import type { ClientMetrics } from "./metrics.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface HttpRequest {
  readonly method: Method;
  /** With its query: `/api/v1/namespaces?limit=1`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** An answer whose body is still coming, line by line. */
export interface LineStream {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  /** The lines, without their ends. Ends with the stream; rejects with `ConnectionFailed` when that breaks. */
  readonly lines: AsyncIterable<string>;
  /** All of the body: for answers that are no stream. */
  text(): Promise<string>;
}

export interface TransportLimits {
  readonly connectTimeoutMs: number;
  /** The longest body of an answer. */
  readonly answerBytesMax: number;
  /** The longest line of a stream: an object is at most a few MiB. */
  readonly lineCharactersMax: number;
  /** Connections younger than this are not suspected: many who share a dead one find out at the same time. */
  readonly suspectMsMin: number;
  /** What is still under way on connections that were replaced is cut after this. */
  readonly retiredMsMax: number;
}

const usualTransportLimits: TransportLimits = {
  connectTimeoutMs: 5_000,
  answerBytesMax: 1 << 29,
  lineCharactersMax: 1 << 26,
  suspectMsMin: 5_000,
  retiredMsMax: 60_000,
};

export interface TransportOptions {
  readonly access: Access;
  readonly clock: Clock;
  readonly metrics: ClientMetrics;
  readonly userAgent: string;
  readonly limits?: Partial<TransportLimits>;
  /** Called when a request is written to a connection that is there. What it throws keeps the request from being sent. */
  readonly onWrite?: (request: Pick<HttpRequest, "method" | "path">) => void;
}

type Lane = "calls" | "streams";

/** An answer, and what holds its connections until all of it is here. */
interface Answer {
  readonly response: Dispatcher.ResponseData;
  readonly use: Disposable;
}

/**
 * Sends requests as the current credentials say. Answers of any status resolve; only a broken connection
 * rejects, with `ConnectionFailed`.
 *
 * Streams have connections apart from calls: however slowly somebody reads a watch, calls are not held up.
 */
export class Transport implements AsyncDisposable {
  readonly #access: Access;
  readonly #base: string;
  readonly #origin: string;
  readonly #metrics: ClientMetrics;
  readonly #userAgent: string;
  readonly #limits: TransportLimits;
  readonly #lanes: Record<Lane, Connections | undefined> = {
    calls: undefined,
    streams: undefined,
  };
  readonly #clock: Clock;
  readonly #onWrite: TransportOptions["onWrite"];
  readonly #retired = new Map<Connections, Disposable>();
  #isDisposed = false;

  constructor({ access, clock, metrics, userAgent, limits = {}, onWrite }: TransportOptions) {
    this.#clock = clock;
    this.#onWrite = onWrite;
    const url = new URL(access.server);
    this.#access = access;
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/$/, "");
    this.#metrics = metrics;
    this.#userAgent = userAgent;
    this.#limits = { ...usualTransportLimits, ...limits };
  }

  /** Where requests go. */
  get server(): string {
    return this.#access.server;
  }

  /** Sends a request and waits for all of its answer. */
  async send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { response, use } = await this.#dispatch("calls", request, signal);
    using _use = use;
    const { statusCode, headers, body } = response;
    const text = await this.#readAll(body, signal);
    return { status: statusCode, headers, text };
  }

  /** Sends a request whose answer is a stream of lines. Leaving the iteration, or `signal`, closes it. */
  async open(request: HttpRequest, signal: AbortSignal): Promise<LineStream> {
    const { response, use } = await this.#dispatch("streams", request, signal);
    const { statusCode, headers, body } = response;
    return {
      status: statusCode,
      headers,
      lines: this.#readLines({ body, use }, signal),
      text: async () => {
        using _use = use;
        return await this.#readAll(body, signal);
      },
    };
  }

  /**
   * Makes new connections for whatever is sent from here on: those in use have gone quiet, and what is sent on a
   * connection that is half open is lost. What is under way may end on the old ones.
   */
  renewConnections(reason: "deadline" | "silence"): void {
    const newestMs = this.#clock.monotonic() - this.#limits.suspectMsMin;
    const isSuspect = (lane: Lane): boolean =>
      (this.#lanes[lane]?.madeAtMs ?? Infinity) <= newestMs;
    const suspects = (["calls", "streams"] as const).filter(isSuspect);
    if (suspects.length > 0) this.#metrics.connectionsRenewed.add({ reason });
    for (const lane of suspects) this.#retire(lane);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#retire("calls");
    this.#retire("streams");
    for (const timer of this.#retired.values()) timer[Symbol.dispose]();
    await Promise.all([...this.#retired.keys()].map((connections) => connections.cut()));
  }

  async #dispatch(lane: Lane, request: HttpRequest, signal: AbortSignal): Promise<Answer> {
    const first = await this.#attempt(lane, request, signal);
    if (first.response.statusCode !== 401) return first;
    using _use = first.use;
    await first.response.body.dump();
    // The token has expired or was replaced: credentials are asked for again, once.
    this.#access.credentials.renew();
    return await this.#attempt(lane, request, signal);
  }

  async #attempt(
    lane: Lane,
    { method, path, headers, body }: HttpRequest,
    signal: AbortSignal,
  ): Promise<Answer> {
    const credential = await this.#access.credentials.current(signal);
    const connections = this.#connectionsFor(lane, credential.tls);
    const { dispatcher } = connections;
    const onWrite = this.#onWrite;
    const options = {
      dispatcher:
        onWrite === undefined
          ? dispatcher
          : askingAtWrite(dispatcher, () => onWrite({ method, path })),
      method,
      headers: headersOf(credential, { "user-agent": this.#userAgent, ...headers }),
      ...(body === undefined ? {} : { body }),
      signal,
      // Deadlines are ours: these would be timers of the machine.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const use = connections.use();
    try {
      return { response: await sendRequest(`${this.#origin}${this.#base}${path}`, options), use };
    } catch (error) {
      use[Symbol.dispose]();
      if (signal.aborted) throw signal.reason;
      if (error instanceof Unwritten) throw error.cause;
      if (isUntrusted(error)) this.#access.credentials.renew();
      throw connectionFailed(error, { maybeSent: !neverSent(error) });
    }
  }

  /** The connections for this identity. When it changes new ones are made, and the old ones end with their work. */
  #connectionsFor(lane: Lane, tls: TlsIdentity): Connections {
    if (this.#isDisposed) throw new Error("the client has been closed");
    const identity = fingerprint(tls);
    const current = this.#lanes[lane];
    if (current?.identity === identity) return current;
    if (current !== undefined) {
      this.#metrics.connectionsRenewed.add({ reason: "identity" });
      this.#retire(lane);
    }
    const { proxyUrl } = this.#access;
    const { connectTimeoutMs } = this.#limits;
    const dispatcher = dispatcherOf({ tls, proxyUrl, connectTimeoutMs });
    const made = new Connections({ identity, dispatcher, madeAtMs: this.#clock.monotonic() });
    this.#lanes[lane] = made;
    return made;
  }

  #retire(lane: Lane): void {
    const old = this.#lanes[lane];
    if (old === undefined) return;
    this.#lanes[lane] = undefined;
    const timer = this.#clock.after(this.#limits.retiredMsMax, () => void old.cut());
    this.#retired.set(old, timer);
    void old.retire().then(() => {
      timer[Symbol.dispose]();
      this.#retired.delete(old);
    });
  }

  async #readAll(body: Dispatcher.ResponseData["body"], signal: AbortSignal): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body) {
        chunks.push(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        if (bytes > this.#limits.answerBytesMax) {
          throw new UnexpectedAnswer(
            `an answer is longer than ${this.#limits.answerBytesMax} bytes`,
          );
        }
      }
    } catch (error) {
      throw afterHeaders(error, signal);
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  async *#readLines(
    { body, use }: { readonly body: Dispatcher.ResponseData["body"]; readonly use: Disposable },
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    using _use = use;
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of body) {
        const text = decoder.decode(chunk as Buffer, { stream: true });
        let start = 0;
        for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
          const line = rest + text.slice(start, end);
          rest = "";
          start = end + 1;
          if (line !== "") yield line;
        }
        rest += text.slice(start);
        if (rest.length > this.#limits.lineCharactersMax) {
          throw new UnexpectedAnswer(
            `a line is longer than ${this.#limits.lineCharactersMax} characters`,
          );
        }
      }
    } catch (error) {
      throw afterHeaders(error, signal);
    }
    // What is left is no whole line: the stream was cut, and half a document means nothing.
  }
}

function headersOf(
  { headers }: Credential,
  own: Readonly<Record<string, string>>,
): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = { ...own };
  for (const [name, value] of Object.entries(headers)) {
    all[name] = typeof value === "string" ? value : [...value];
  }
  return all;
}

function fingerprint({ ca, certificate, key, serverName, isInsecure }: TlsIdentity): string {
  const parts = [ca, certificate, key, serverName, isInsecure === true];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}

function afterHeaders(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || isCancellation(error, signal)) return signal.reason;
  if (error instanceof UnexpectedAnswer) return error;
  return connectionFailed(error, { maybeSent: true });
}

function connectionFailed(cause: unknown, { maybeSent }: { maybeSent: boolean }): ConnectionFailed {
  return new ConnectionFailed(`no answer: ${textOf(cause)}`, { maybeSent, cause });
}

function textOf(cause: unknown): string {
  // Node advises to trust what the system trusts, which is not asked where a kubeconfig says whom to trust.
  if (isDistrust(codeOf(cause))) return `its certificate is not trusted (${codeOf(cause)})`;
  return cause instanceof Error ? cause.message || codeOf(cause) : String(cause);
}

/** Whether no byte of the request can have reached the server. */
function neverSent(error: unknown): boolean {
  if (error instanceof errors.ConnectTimeoutError) return true;
  // A proxy that makes no tunnel; it is not our signal that has aborted.
  if (error instanceof errors.RequestAbortedError) return true;
  if (isUntrusted(error)) return true;
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_CONN|UND_ERR_PRX_TLS)$/.test(
    codeOf(error),
  );
}

/** The server's certificate is not one we trust: perhaps its authority was replaced. */
function isUntrusted(error: unknown): boolean {
  const code = codeOf(error);
  return isDistrust(code) || code.startsWith("ERR_TLS_CERT");
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
