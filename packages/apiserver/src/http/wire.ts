// What HTTP/1.1 and HTTP/2 have in common, straight on Node's servers: a framework in between costs every request, and its
// router, hooks and parsers have nothing to do for a server whose paths are data.

import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server as PlainServer,
  type ServerResponse,
} from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { SecureContextOptions } from "node:tls";

import { strangersBytesMax } from "./receive-body.ts";

/** How many streams one HTTP/2 connection may hold open: Go clients put all their watches on one. */
const streamsMax = 2_000;
/** After how much silence the other side is asked whether it is still there. */
const probeAfterMs = 60_000;

/**
 * How long a connection of HTTP/1.1 may rest between requests, as with the real server. By itself Node closes it after 5 s: a
 * client whose next write is on its way just then cannot know what became of it.
 */
const idleMs = 90_000;

/** Where an answer is written: a response of HTTP/1.1, or a stream of HTTP/2. */
export type Output = ServerResponse | ServerHttp2Stream;

/** A request as it arrives, its body still on the way. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values in turn, as they were sent: few ask, and Node makes them when asked. */
  readonly rawHeaders: () => readonly string[];
  /** Undefined if there is none. */
  readonly body: Readable | undefined;
  /** Of an HTTP/2 session it can be looked at only while that lasts. */
  readonly socket: Socket;
  readonly sourceAddress: string;
  readonly output: Output;
}

export type Receive = (received: Received) => void;

/**
 * A server that hands each request to `receive`: of both protocols over TLS, of HTTP/1.1 without. Who calls it by a name that
 * `isForProxies` is spoken to in HTTP/1.1.
 */
export function makeServer(
  tls: SecureContextOptions | undefined,
  receive: Receive,
  isForProxies: (servername: string) => boolean = () => false,
): PlainServer | Http2SecureServer {
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { method = "GET", url = "/", headers } = request;
    receive({
      method,
      url,
      headers,
      rawHeaders: () => request.rawHeaders,
      body: hasBody(method, headers) ? request : undefined,
      socket: request.socket,
      sourceAddress: request.socket.remoteAddress ?? "",
      output: response,
    });
  };
  const connections = {
    // A server of HTTP/2 does not say so for the HTTP/1.1 that it also speaks. Without it a small event waits until the client
    // has acknowledged the one before, which one that only listens puts off for 40 ms.
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: probeAfterMs,
    keepAliveTimeout: idleMs,
  };
  if (tls === undefined) return createServer(connections, onRequest);
  const server = createSecureServer({
    ...tls,
    ...connections,
    allowHTTP1: true,
    // Who calls an address names nobody, whatever the types say.
    ALPNCallback: ({ servername, protocols }: { servername?: unknown; protocols: string[] }) =>
      (typeof servername === "string" && isForProxies(servername)
        ? ["http/1.1"]
        : ["h2", "http/1.1"]
      ).find((one) => protocols.includes(one)),
    minVersion: "TLSv1.2",
    // Asked for, not demanded, and verified by our own code: against two CAs, and with a Status as answer.
    requestCert: true,
    rejectUnauthorized: false,
    settings: { maxConcurrentStreams: streamsMax, initialWindowSize: strangersBytesMax },
  });
  // Only those of HTTP/1.1 arrive there, whatever the types say.
  (server as unknown as PlainServer).on("request", onRequest);
  // A listener for requests makes Node dress each stream up as a request of HTTP/1.1, at the price of the whole answer.
  server.removeAllListeners("stream");
  const onStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _flags: number,
    rawHeaders: readonly string[],
  ): void => receiveStream(receive, stream, { headers, rawHeaders });
  server.on("stream", onStream);
  return server;
}

function receiveStream(
  receive: Receive,
  stream: ServerHttp2Stream,
  {
    headers,
    rawHeaders,
  }: { readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] },
): void {
  stream.on("error", () => stream.destroy()); // The client broke it off; nobody is left to tell.
  const { session } = stream;
  // Told a moment after it came: its connection may be gone already.
  if (session === undefined || session.destroyed) return;
  const { socket } = session;
  receive({
    method: headers[":method"] ?? "GET",
    url: headers[":path"] ?? "/",
    headers,
    rawHeaders: () => rawHeaders,
    body: stream.endAfterHeaders ? undefined : stream,
    socket,
    sourceAddress: socket.remoteAddress ?? "",
    output: stream,
  });
}

/** Bodies of reads mean nothing, and are not waited for. */
function hasBody(method: string, headers: IncomingMessage["headers"]): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/** Sends the head of an answer. */
export function respond(output: Output, code: number, head: OutgoingHttpHeaders): void {
  if ("writeHead" in output) {
    output.writeHead(code, head);
    return;
  }
  head[":status"] = code;
  output.respond(head);
}

/** Whether nothing more can be written. */
export function isGone(output: Output): boolean {
  return output.destroyed || output.writableEnded || ("closed" in output && output.closed);
}

/**
 * Lets go of a body that nobody reads. A client of HTTP/2 is told so with the end of its answer; one of HTTP/1.1 would not see
 * an answer before it has sent everything, so the rest is let through to nowhere.
 */
export function letGo(body: Readable, output: Output): void {
  body.resume();
  if (!("writeHead" in output)) output.once("finish", () => output.close());
}
