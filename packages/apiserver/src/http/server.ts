// The transport: TLS with HTTP/2 and HTTP/1.1, bodies, disconnects, streams.

import { STATUS_CODES, type OutgoingHttpHeaders, type Server as PlainServer } from "node:http";
import type { Http2SecureServer, ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Readable } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";

import { type Clock, type Log, onAbort, type Random } from "@keelson/base";
import { failures, type StatusError } from "@keelson/kube";

import type { Admitted, ApiHandler, Handled } from "../api-handler.ts";
import type { Credentials } from "../auth/authenticator.ts";
import { clientCertificates } from "../auth/client-certificates.ts";
import { distinctHeaders } from "../auth/headers.ts";
import { anonymous } from "../auth/user.ts";
import type { EncodeFailure } from "../encoding/failure-answer.ts";
import { toStatusError } from "../errors.ts";
import { isStreaming, type Answer, type Streaming } from "./answer.ts";
import { Arrivals } from "./arrivals.ts";
import { Deadlines } from "./deadlines.ts";
import { warningHeader, type Incoming } from "./exchange.ts";
import { bodyBytesMax, type BodyOutcome, receiveBody, strangersBytesMax } from "./receive-body.ts";
import { requestInfo } from "./request-info.ts";
import { requestTimeoutMs } from "./request-timeout.ts";
import { send } from "./send-answer.ts";
import { corkTurn, sinkTo } from "./sink.ts";
import { isGone, letGo, makeServer, respond, type Output, type Received } from "./wire.ts";

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
  /**
   * Proxies, by the name that they call us by, and how long an orderly stop asks them to go elsewhere before it ends their
   * connections. They are spoken to in HTTP/1.1: Node cannot leave HTTP/2 without losing what is on its way, and a proxy has no body
   * to send twice.
   */
  readonly proxies?: { readonly isName: (servername: string) => boolean; readonly leaveMs: number };
  /** The header in which front proxies name the user, in lower case, where it is not the usual one. */
  readonly userHeaders?: () => readonly string[];
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
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #arrivals = new Arrivals<Begun>((begun) => void this.#serve(begun));
  readonly #server: PlainServer | Http2SecureServer;
  /** Whether proxies are asked to go elsewhere. */
  #isLeaving = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock);
    const receive = (received: Received): void => this.#receive(received);
    this.#server = makeServer(options.tls, receive, options.proxies?.isName);
    this.#server.on("session", (session: ServerHttp2Session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
    });
    this.#server.on("clientError", refuseConnection);
    const connected = options.tls === undefined ? "connection" : "secureConnection";
    this.#server.on(connected, (socket: Socket) => {
      // Its handshake took until now: nothing that comes over it would be answered, and it would keep us from ending.
      if (this.#stopping.signal.aborted) socket.destroy();
      this.#connections.set(socket, { answering: 0 });
      socket.once("close", () => this.#connections.delete(socket));
    });
  }

  /** Aborts when the server stops: watches end then. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  async listen(address: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(address, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    const bound = this.#server.address();
    if (bound === null || typeof bound === "string") throw new Error("the server has no address");
    return bound;
  }

  /** Node's own server, for whoever must see what arrives. */
  get listener(): PlainServer | Http2SecureServer {
    return this.#server;
  }

  /** New connections see these certificates; open ones go on as they are. */
  useCertificates(tls: SecureContextOptions): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(tls);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leaveProxies();
    this.#stopping.abort(failures.serviceUnavailable("the server is stopping"));
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    for (const [socket, { answering }] of this.#connections) {
      if (!isSession(socket) && answering === 0) socket.destroy();
    }
    await closed;
    this.#deadlines[Symbol.dispose]();
  }

  /** Each answer ends its connection, until none is left or the time is up. Watches go on. */
  async #leaveProxies(): Promise<void> {
    const { proxies, clock } = this.#options;
    if (proxies === undefined) return;
    this.#isLeaving = true;
    const { signal } = new AbortController();
    const endMs = clock.monotonic() + proxies.leaveMs;
    const isLeft = (): boolean =>
      [...this.#connections].every(([socket, { answering }]) => answering > 0 || isSession(socket));
    while (clock.monotonic() < endMs && !isLeft()) {
      await clock.sleep(leaveLookMs, signal);
    }
  }

  /** Its time runs from here: the body is part of it. */
  #receive(received: Received): void {
    const { output, socket, body, headers } = received;
    const { clock } = this.#options;
    const controller = new AbortController();
    const incoming = this.#incoming(received, controller.signal);
    const begun: Begun = {
      received,
      incoming,
      // Now: the client may leave while its body is on the way, and its connection tells nothing any more.
      credentials: credentialsOf(received, incoming),
      connection: this.#connections.get(socket),
      isAnswering: false,
      stopReceiving: undefined,
      controller,
      begunMs: clock.monotonic(),
      startedAtMs: clock.now(),
    };
    // Not a listener of the signal: that costs every request, and there are two who end one.
    const abort = (reason: DOMException): void => {
      controller.abort(reason);
      begun.stopReceiving?.();
    };
    let timeoutMs: number | undefined;
    try {
      this.#stopping.signal.throwIfAborted();
      timeoutMs = requestTimeoutMs(incoming.info, incoming.query);
    } catch (error) {
      if (body !== undefined) letGo(body, output);
      this.#refuse(begun, toStatusError(error));
      return;
    }
    const deadline =
      timeoutMs === undefined ? undefined : this.#deadlines.add({ abort }, timeoutMs);
    output.on("close", () => {
      deadline?.[Symbol.dispose]();
      this.#finished(begun);
      if (!output.writableFinished) abort(new DOMException("the client left", "AbortError"));
    });
    const length = headers["content-length"];
    const isSmall = length !== undefined && Number(length) <= strangersBytesMax;
    if (body === undefined || !isSmall) {
      this.#arrive(begun);
      return;
    }
    begun.stopReceiving = () => {
      begun.stopReceiving = undefined;
      this.#refuse(begun, toStatusError(controller.signal.reason));
      body.destroy();
    };
    receiveBody(body, length, (outcome) => {
      // It has its answer, or nobody waits for one; and no more comes than was announced.
      if (typeof outcome === "string") return;
      begun.stopReceiving = undefined;
      incoming.body = outcome;
      this.#arrive(begun);
    });
  }

  /** From here on it will be answered, also by a server that stops. */
  #arrive(begun: Begun): void {
    begun.isAnswering = true;
    if (begun.connection !== undefined) begun.connection.answering += 1;
    this.#arrivals.add(begun);
  }

  /** Answers a request that never gets to be handled. */
  #refuse(begun: Begun, status: StatusError): void {
    const { incoming, received } = begun;
    const answer = this.#options.encodeFailure(status, incoming);
    this.#send(received.output, incoming, { answer, warnings: [] });
    this.#told(begun, {
      answer,
      info: incoming.info,
      user: anonymous,
      asker: undefined,
      constraint: "",
      warnings: [],
      done: () => undefined,
    });
  }

  #send(
    output: Output,
    incoming: Incoming,
    { answer, warnings }: { readonly answer: Answer; readonly warnings: readonly string[] },
  ): void {
    const isLast = this.#isLeaving || this.#stopping.signal.aborted;
    if (isLast && "writeHead" in output) output.shouldKeepAlive = false;
    send(output, incoming, answer, warnings);
  }

  async #serve(begun: Begun): Promise<void> {
    const { received, incoming, credentials, controller } = begun;
    const { output } = received;
    const admitted = await this.#options.handler.admit(incoming, credentials);
    const handled = await this.#handle(begun, admitted);
    try {
      if (isStreaming(handled.answer)) {
        await this.#stream(output, incoming, { ...handled, answer: handled.answer }, controller);
      } else {
        this.#send(output, incoming, { answer: handled.answer, warnings: handled.warnings });
      }
    } catch (error) {
      // Whatever cannot even be sent: the client must not wait for it.
      this.#options.log.error({ error, path: incoming.path }, "an answer could not be sent");
      output.destroy();
    } finally {
      handled.done();
      this.#told(begun, handled);
    }
  }

  /** What a request is told: why it may not go on, what is wrong with its body, or what there is to answer. */
  #handle(begun: Begun, admitted: Admitted): Promise<Handled> | Handled {
    const { received, incoming } = begun;
    const { body } = received;
    const { refusal } = admitted;
    const isLate = body !== undefined && incoming.body === noBody;
    if (refusal !== undefined) {
      if (isLate) letGo(body, received.output);
      return { ...admitted, answer: refusal, info: incoming.info, warnings: [] };
    }
    if (isLate) return this.#handleLate(begun, admitted, body);
    return this.#options.handler.handle(incoming, admitted);
  }

  /** The same once a body has come that was not taken from a stranger. */
  async #handleLate(begun: Begun, admitted: Admitted, body: Readable): Promise<Handled> {
    const { received, incoming, controller } = begun;
    const { promise, resolve } = Promise.withResolvers<BodyOutcome>();
    begun.stopReceiving = () => resolve("gone");
    // Whoever has left meanwhile tells nobody again.
    if (controller.signal.aborted) resolve("gone");
    receiveBody(body, received.headers["content-length"], resolve);
    const outcome = await promise;
    begun.stopReceiving = undefined;
    if (typeof outcome !== "string") {
      incoming.body = outcome;
      return await this.#options.handler.handle(incoming, admitted);
    }
    const status =
      outcome === "too large"
        ? failures.requestTooLarge(`limit is ${bodyBytesMax}`)
        : toStatusError(controller.signal.reason);
    if (outcome === "too large") letGo(body, received.output);
    else received.output.once("finish", () => body.destroy());
    const answer = this.#options.encodeFailure(status, incoming);
    return { ...admitted, answer, info: incoming.info, warnings: [] };
  }

  #told({ received, incoming, begunMs, startedAtMs }: Begun, handled: Handled): void {
    this.#options.onFinished({
      handled,
      incoming,
      code: handled.answer.code,
      startedAtMs,
      durationMs: this.#options.clock.monotonic() - begunMs,
      sourceAddress: received.sourceAddress,
    });
  }

  /** While the server stops, a connection goes with its last answer. */
  #finished({ received: { output, socket }, connection, isAnswering }: Begun): void {
    if (isAnswering && connection !== undefined) connection.answering -= 1;
    if (this.#stopping.signal.aborted && "writeHead" in output) socket.destroySoon();
  }

  #incoming(received: Received, signal: AbortSignal): Begun["incoming"] {
    const { method, url, headers } = received;
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    const query = question < 0 ? noQuery : new URLSearchParams(url.slice(question + 1));
    const sent = headers["audit-id"];
    return {
      method,
      path,
      query,
      info: requestInfo(method, path, query),
      headers: this.#carriesIdentity(headers) ? distinctHeaders(received.rawHeaders()) : headers,
      body: noBody,
      auditId: typeof sent === "string" && sent !== "" ? sent : this.#options.random.uuid(),
      signal,
    };
  }

  /** Groups are named by repeated fields, which Node joins by commas. */
  #carriesIdentity(headers: Incoming["headers"]): boolean {
    return (
      headers["impersonate-user"] !== undefined ||
      headers["impersonate-group"] !== undefined ||
      headers["x-remote-user"] !== undefined ||
      this.#options.userHeaders?.().some((name) => headers[name] !== undefined) === true
    );
  }

  /** Headers go out at once; then pieces, as fast as the client takes them. */
  async #stream(
    output: Output,
    incoming: Incoming,
    { answer, warnings }: Handled & { readonly answer: Streaming },
    controller: AbortController,
  ): Promise<void> {
    if (isGone(output)) return;
    const head: OutgoingHttpHeaders = {
      "audit-id": incoming.auditId,
      "cache-control": "no-cache, private",
      "content-type": answer.contentType,
      ...answer.headers,
    };
    if (warnings.length > 0) head["Warning"] = warnings.map(warningHeader);
    const { isEndless } = answer;
    // HTTP/2 says GOAWAY instead; on HTTP/1.1 the connection would keep the server from closing.
    if (isEndless && "writeHead" in output) head["connection"] = "close";
    respond(output, answer.code, head);
    if (!isEndless) corkTurn(output);
    // Not by `flushHeaders`, which would encode the bytes of warnings again.
    if ("writeHead" in output) output.write("", "latin1");
    using _ = isEndless
      ? onAbort(this.#stopping.signal, () => controller.abort(this.#stopping.signal.reason))
      : undefined;
    try {
      await answer.stream(sinkTo(output, { isEndless }, controller.signal), controller.signal);
      // Half an answer must not look like a whole one.
      if (!isEndless && controller.signal.aborted) output.destroy();
    } catch (error) {
      if (!isEndless) output.destroy();
      if (!controller.signal.aborted) {
        this.#options.log.error({ error, path: incoming.path }, "a stream failed");
      }
    } finally {
      output.end();
    }
  }
}

/** How often it is looked whether proxies have gone. */
const leaveLookMs = 50;

/** Whether a connection speaks HTTP/2. */
function isSession(socket: Socket): boolean {
  return "alpnProtocol" in socket && socket.alpnProtocol === "h2";
}

const noQuery = new URLSearchParams();
const noBody = new Uint8Array();

/** One that is open. */
interface Connection {
  /** Requests that have arrived and are not answered: it stays open until they are. */
  answering: number;
}

/** A request from its first line on. */
interface Begun {
  readonly received: Received;
  /** Its body is empty until it has come. */
  readonly incoming: Incoming & { body: Uint8Array };
  /** Undefined for a stream of HTTP/2, whose socket is not to be had. */
  readonly connection: Connection | undefined;
  /** Whether it has arrived. */
  isAnswering: boolean;
  /** Ends the wait for its body; undefined if nobody waits for it. */
  stopReceiving: (() => void) | undefined;
  readonly credentials: Credentials;
  readonly controller: AbortController;
  readonly begunMs: number;
  readonly startedAtMs: number;
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

function credentialsOf({ socket, headers: sent }: Received, { headers }: Incoming): Credentials {
  const { authorization } = sent;
  // Asked for and not looked for: the socket of an HTTP/2 session hands members on without having them.
  const isSecure = typeof (socket as Partial<TLSSocket>).getPeerX509Certificate === "function";
  const certificates = isSecure ? clientCertificates(socket as TLSSocket) : [];
  return {
    certificates,
    authorization: typeof authorization === "string" ? authorization : undefined,
    headers,
  };
}
