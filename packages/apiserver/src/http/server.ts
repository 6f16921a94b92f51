// The transport: TLS with HTTP/2 and HTTP/1.1, bodies, disconnects, streams.

import { STATUS_CODES, type OutgoingHttpHeaders } from "node:http";
import type { Http2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { SecureContextOptions, TLSSocket } from "node:tls";

import { type Clock, type Log, onAbort, type Random } from "@keelson/base";
import { failures, type StatusError } from "@keelson/kube";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";

import type { ApiHandler, Handled } from "../api-handler.ts";
import type { Credentials } from "../auth/authenticator.ts";
import { clientCertificates } from "../auth/client-certificates.ts";
import { distinctHeaders } from "../auth/headers.ts";
import { anonymous } from "../auth/user.ts";
import type { EncodeFailure } from "../encoding/failure-answer.ts";
import { toStatusError } from "../errors.ts";
import { isStreaming, type Answer, type Sink, type Streaming } from "./answer.ts";
import { Deadlines } from "./deadlines.ts";
import { warningHeader, type Incoming } from "./exchange.ts";
import { requestInfo } from "./request-info.ts";
import { requestTimeoutMs } from "./request-timeout.ts";

/** How large a body may be (KB 33). */
export const bodyBytesMax = 3 * 1024 * 1024;
/** How many streams one HTTP/2 connection may hold open: Go clients put all their watches on one. */
const streamsMax = 2_000;
/** How much of a stream may be on its way to one client; beyond it the client sets the pace. */
const windowBytes = 1024 * 1024;

export interface ServerOptions {
  readonly handler: ApiHandler;
  readonly encodeFailure: EncodeFailure;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The certificate to begin with; `Server.useCertificates` replaces it. Without one it speaks plain HTTP/1.1: for tests in process. */
  readonly tls: SecureContextOptions | undefined;
  /** Told of every finished request. */
  readonly onFinished: (finished: Finished) => void;
}

/** A finished request, for metrics and audit. */
export interface Finished {
  readonly handled: Handled;
  readonly incoming: Incoming;
  readonly code: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly sourceAddress: string;
}

/** The listening server. Stops in order: no new requests, watches told to go elsewhere, the rest finished. */
export class Server implements AsyncDisposable {
  readonly #options: ServerOptions;
  readonly #stopping = new AbortController();
  readonly #deadlines: Deadlines;
  readonly #sessions = new Set<Http2Session>();
  readonly #begun = new WeakMap<FastifyRequest["raw"], Begun>();
  readonly #app: FastifyInstance;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock);
    this.#app = makeApp(options.tls);
    this.#app.removeAllContentTypeParsers();
    this.#app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
      done(null, body);
    });
    this.#app.addHook("onRequest", (request, reply, done) => {
      hideType(request.raw.headers);
      if (this.#begin(request, reply)) done();
    });
    this.#app.setErrorHandler((error, request, reply) => {
      this.#refuse(error, request, reply);
    });
    this.#app.all("/", (request, reply) => this.#serve(request, reply));
    this.#app.setNotFoundHandler((request, reply) => this.#serve(request, reply));
    this.#app.server.on("session", (session: Http2Session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
    });
  }

  /** Aborts when the server stops: watches end then. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  async listen(address: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    await this.#app.listen(address);
    const bound = this.#app.server.address();
    if (bound === null || typeof bound === "string") throw new Error("the server has no address");
    return bound;
  }

  /** The framework's own server, to which requests can be given without a socket. */
  get app(): FastifyInstance {
    return this.#app;
  }

  /** New connections see these certificates; open ones go on as they are. */
  useCertificates(tls: SecureContextOptions): void {
    const { server } = this.#app;
    if ("setSecureContext" in server) {
      (server as { setSecureContext(options: SecureContextOptions): void }).setSecureContext(tls);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(failures.serviceUnavailable("the server is stopping"));
    for (const session of this.#sessions) session.close();
    await this.#app.close();
    this.#deadlines[Symbol.dispose]();
  }

  /** Its time runs from here: the body is part of it. Answers whether the request goes on. */
  #begin(request: FastifyRequest, reply: FastifyReply): boolean {
    const { clock } = this.#options;
    const controller = new AbortController();
    const { raw } = reply;
    raw.once("close", () => {
      if (!raw.writableFinished)
        controller.abort(new DOMException("the client left", "AbortError"));
    });
    const begun: Begun = { controller, begunMs: clock.monotonic(), startedAtMs: clock.now() };
    this.#begun.set(request.raw, begun);
    const { method, path, query } = target(request);
    try {
      const timeoutMs = requestTimeoutMs(requestInfo(method, path, query), query);
      if (timeoutMs === undefined) return true;
      const deadline = this.#deadlines.add(controller, timeoutMs);
      raw.once("close", () => deadline[Symbol.dispose]());
    } catch (error) {
      this.#answer(request, reply, toStatusError(error));
      return false;
    }
    begun.slowBody = onAbort(controller.signal, () => {
      this.#answer(request, reply, toStatusError(controller.signal.reason));
      request.raw.destroy();
    });
    return true;
  }

  async #serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const begun = this.#begun.get(request.raw);
    if (begun === undefined) throw new Error("a request is served that has not begun");
    const { controller } = begun;
    begun.slowBody?.[Symbol.dispose]();
    const incoming = this.#incoming(request, controller.signal);
    const handled = await this.#options.handler.handle(incoming, credentialsOf(request, incoming));
    try {
      if (isStreaming(handled.answer)) {
        await this.#stream(reply, incoming, { ...handled, answer: handled.answer }, controller);
      } else {
        send(reply, incoming, handled.answer, handled.warnings);
      }
    } finally {
      handled.done();
      this.#finish(request, begun, { handled, incoming });
    }
  }

  /** Refuses a request that never gets to be handled. */
  #answer(request: FastifyRequest, reply: FastifyReply, error: StatusError): void {
    const begun = this.#begun.get(request.raw);
    begun?.slowBody?.[Symbol.dispose]();
    const incoming = this.#incoming(request, this.#stopping.signal);
    const answer = this.#options.encodeFailure(error, incoming);
    send(reply, incoming, answer, []);
    if (begun === undefined) return;
    const info = requestInfo(incoming.method, incoming.path, incoming.query);
    const handled: Handled = {
      answer,
      info,
      user: anonymous,
      asker: anonymous,
      constraint: "",
      warnings: [],
      done: () => undefined,
    };
    this.#finish(request, begun, { handled, incoming });
  }

  #finish(
    request: FastifyRequest,
    { begunMs, startedAtMs }: Begun,
    { handled, incoming }: Pick<Finished, "handled" | "incoming">,
  ): void {
    this.#options.onFinished({
      handled,
      incoming,
      code: handled.answer.code,
      startedAtMs,
      durationMs: this.#options.clock.monotonic() - begunMs,
      sourceAddress: request.socket.remoteAddress ?? "",
    });
  }

  #incoming(request: FastifyRequest, signal: AbortSignal): Incoming {
    const { headers, raw } = request;
    const sent = headers["audit-id"];
    return {
      ...target(request),
      headers: withSentType(
        carriesIdentity(headers) ? distinctHeaders(raw.rawHeaders) : headers,
        headers[sentType],
      ),
      body: Buffer.isBuffer(request.body) ? request.body : noBody,
      auditId: typeof sent === "string" && sent !== "" ? sent : this.#options.random.uuid(),
      signal,
    };
  }

  /** Headers go out at once; then pieces, as fast as the client takes them. */
  async #stream(
    reply: FastifyReply,
    incoming: Incoming,
    { answer, warnings }: Handled & { readonly answer: Streaming },
    controller: AbortController,
  ): Promise<void> {
    const { raw } = reply;
    reply.hijack();
    const head: OutgoingHttpHeaders = {
      "audit-id": incoming.auditId,
      "cache-control": "no-cache, private",
      "content-type": answer.contentType,
      ...answer.headers,
    };
    if (warnings.length > 0) head["Warning"] = warnings.map(warningHeader);
    // HTTP/2 says GOAWAY instead; on HTTP/1.1 the connection would keep the server from closing.
    if (raw.req.httpVersionMajor === 1) head["connection"] = "close";
    raw.writeHead(answer.code, head);
    raw.flushHeaders();
    using _ = onAbort(this.#stopping.signal, () => controller.abort(this.#stopping.signal.reason));
    try {
      await answer.stream(sinkTo(raw, controller.signal), controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) {
        this.#options.log.error({ error, path: incoming.path }, "a stream failed");
      }
    } finally {
      raw.end();
    }
  }

  /** What the framework itself refuses: a body that is too large, one that ends too soon. */
  #refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
    if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
      this.#answer(request, reply, failures.requestTooLarge(`limit is ${bodyBytesMax}`));
    } else if (statusCode !== undefined && statusCode < 500) {
      this.#answer(request, reply, failures.badRequest("the request cannot be read"));
    } else {
      const { path } = target(request);
      this.#options.log.error({ error, path }, "a request failed");
      this.#answer(request, reply, failures.internalError("the server failed; its log says why"));
    }
  }
}

/** A request from its first line on. */
interface Begun {
  readonly controller: AbortController;
  readonly begunMs: number;
  readonly startedAtMs: number;
  /** Answers in the handler's stead while the body is still on its way. */
  slowBody?: Disposable;
}

/** Where a request goes, exactly as it was sent. */
function target({ raw, originalUrl }: FastifyRequest): Pick<Incoming, "method" | "path" | "query"> {
  const method = raw.method ?? "";
  // The framework types it as always there; a request of HTTP/2 may lack it.
  const url = (originalUrl as string | undefined) ?? "/";
  const question = url.indexOf("?");
  if (question < 0) return { method, path: url, query: noQuery };
  return {
    method,
    path: url.slice(0, question),
    query: new URLSearchParams(url.slice(question + 1)),
  };
}

/** Where the type of a body waits while the framework reads the body. */
const sentType = "x-keelson-sent-type";

/**
 * The framework refuses media types that it cannot read, and reads no body without one: over HTTP/2 nothing else tells
 * that there is a body. We say ourselves what is wrong with a type, and take none for JSON.
 */
function hideType(headers: FastifyRequest["raw"]["headers"]): void {
  const sent = headers["content-type"];
  if (sent === undefined) delete headers[sentType];
  else headers[sentType] = sent;
  headers["content-type"] = "application/octet-stream";
}

function withSentType(
  headers: Incoming["headers"],
  sent: string | readonly string[] | undefined,
): Incoming["headers"] {
  return { ...headers, "content-type": sent };
}

/** Groups are named by repeated fields, which Node joins by commas. */
function carriesIdentity(headers: Incoming["headers"]): boolean {
  return (
    headers["impersonate-user"] !== undefined ||
    headers["impersonate-group"] !== undefined ||
    headers["x-remote-user"] !== undefined
  );
}

const noQuery = new URLSearchParams();
const noBody = new Uint8Array();

function makeApp(tls: SecureContextOptions | undefined): FastifyInstance {
  const common = {
    bodyLimit: bodyBytesMax,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Every path is ours: the framework need not read it, nor say what is wrong with it.
    rewriteUrl: () => "/",
    clientErrorHandler: refuseConnection,
  } as const;
  if (tls === undefined) return fastify(common);
  const secure = fastify({
    ...common,
    http2: true,
    https: {
      ...tls,
      allowHTTP1: true,
      minVersion: "TLSv1.2",
      // Asked for, not demanded, and verified by our own code: against two CAs, and with a Status as answer.
      requestCert: true,
      rejectUnauthorized: false,
      settings: { maxConcurrentStreams: streamsMax, initialWindowSize: windowBytes },
    },
  });
  // The same but for the types of its raw requests, whose shared part is all that is used here.
  return secure as unknown as FastifyInstance;
}

/** What is no HTTP gets the last word of its connection. */
function refuseConnection(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [431, "the headers of the request are too large"]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [408, "the request did not come in time"]
        : [400, "the request cannot be read"];
  const { status } = failures.badRequest(message);
  const body = `${JSON.stringify({ ...status, code })}\n`;
  socket.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ""}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Past the framework, which would add a charset to JSON and look at every header twice. */
function send(
  reply: FastifyReply,
  { auditId }: Incoming,
  { code, contentType, body, headers }: Answer,
  warnings: readonly string[],
): void {
  const { raw } = reply;
  reply.hijack();
  if (raw.destroyed) return;
  const head: OutgoingHttpHeaders = {
    "audit-id": auditId,
    "cache-control": "no-cache, private",
    ...headers,
  };
  // A 304 says nothing of a body: caches would take it for news of the one they hold.
  if (code !== 304) {
    head["content-type"] = contentType;
    head["content-length"] = Buffer.byteLength(body);
  }
  if (warnings.length > 0) head["Warning"] = warnings.map(warningHeader);
  raw.writeHead(code, head);
  endWith(raw, body);
}

/** Little enough that Node does not stop reading the connection while it is on its way. */
const tailBytes = 16 * 1024;

/**
 * Over HTTP/1.1 the last piece goes out alone. While much of an answer is on its way Node pauses its parser; a client that has
 * the whole answer already may send the next request by then, and one with a large body would break the connection.
 */
function endWith(raw: FastifyReply["raw"], body: Answer["body"]): void {
  if (raw.req.httpVersionMajor !== 1 || body.length <= 2 * tailBytes) {
    raw.end(body);
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const tailAt = bytes.length - tailBytes;
  raw.write(bytes.subarray(0, tailAt), () => raw.end(bytes.subarray(tailAt)));
}

/** The socket as a sink: a full buffer is waited for, a closed one never takes anything again. */
function sinkTo(raw: FastifyReply["raw"], signal: AbortSignal): Sink {
  return {
    write: (piece) => {
      if (piece.length === 0 || raw.destroyed || raw.writableEnded) return undefined;
      if (raw.write(piece)) return undefined;
      return new Promise((resolve) => {
        const go = (): void => {
          raw.off("drain", go);
          raw.off("close", go);
          signal.removeEventListener("abort", go);
          resolve();
        };
        raw.once("drain", go);
        raw.once("close", go);
        signal.addEventListener("abort", go, { once: true });
      });
    },
  };
}

function credentialsOf(request: FastifyRequest, { headers }: Incoming): Credentials {
  const { authorization } = request.headers;
  const { socket } = request.raw;
  const certificates =
    "getPeerX509Certificate" in socket ? clientCertificates(socket as TLSSocket) : [];
  return { certificates, authorization, headers };
}
