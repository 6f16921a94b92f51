// Connections to a cluster: directly or by a proxy, HTTP/2 where the server has it, and none that stays dead unnoticed.

import { channel } from "node:diagnostics_channel";
import { constants, type ClientHttp2Stream } from "node:http2";
import { getCACertificates } from "node:tls";

import { Agent, ProxyAgent, Socks5ProxyAgent, type Dispatcher } from "undici";

import type { TlsIdentity } from "./credentials.ts";

export interface DispatcherOptions {
  readonly tls: TlsIdentity;
  /** `http`, `https` or `socks5`. */
  readonly proxyUrl: string | undefined;
  readonly connectTimeoutMs: number;
}

/** What requests of one identity are sent by. */
export function dispatcherOf({ tls, proxyUrl, connectTimeoutMs }: DispatcherOptions): Dispatcher {
  lookAfterStreams();
  const endpoint = { ...endsOf(tls), preferH2: true, timeout: connectTimeoutMs };
  if (proxyUrl === undefined) {
    return new Agent({ ...shared, connect: { ...endpoint, ...keptAlive } });
  }
  if (proxyUrl.startsWith("socks5:")) {
    // Its own options know nothing of HTTP/2, but it hands these on to TLS.
    const requestTls = { ...endsOf(tls), ALPNProtocols: ["h2", "http/1.1"] };
    return new Socks5ProxyAgent(proxyUrl, {
      connectTimeout: connectTimeoutMs,
      requestTls,
    });
  }
  return new ProxyAgent({
    ...shared,
    uri: proxyUrl,
    connectTimeout: connectTimeoutMs,
    requestTls: endpoint,
    proxyTls: { ...keptAlive, ...proxyTrust(tls) },
  });
}

/** What was thrown, as the cause, where a request was about to be written. */
export class Unwritten extends Error {
  constructor(cause: unknown) {
    super("the request was not written", { cause });
    this.name = "Unwritten";
  }
}

/** Asks `mayWrite` when a request is written, which may be long after it was dispatched: its connection has to be made first. */
export function askingAtWrite(dispatcher: Dispatcher, mayWrite: () => void): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart: (controller, context) => {
          try {
            mayWrite();
          } catch (error) {
            throw new Unwritten(error);
          }
          handler.onRequestStart?.(controller, context);
        },
        onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
        onResponseStart: (...start) => handler.onResponseStart?.(...start),
        onResponseData: (...data) => handler.onResponseData?.(...data),
        onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
        onResponseError: (...failure) => handler.onResponseError?.(...failure),
      }),
  );
}

/** Mends what undici leaves undone of the streams of HTTP/2, in the one place that sees each of them. */
function lookAfterStreams(): void {
  const streams = channel("http2.client.stream.created");
  streams.unsubscribe(lookAfter); // Once is enough, however many ask.
  streams.subscribe(lookAfter);
}

function lookAfter(message: unknown): void {
  const { stream } = message as { readonly stream: ClientHttp2Stream };
  // When a connection ends, undici may have let go of a stream that was given up on it: the stream's error would be heard
  // by nobody, and end the process. Whoever waits for an answer hears of it all the same.
  stream.on("error", () => undefined);
  // Undici gives a stream up by closing it without a code and destroying it. Node then puts the reset off until the body
  // is out, which never comes of a stream that is destroyed; and when a connection that was stalled moves again, it sends
  // empty frames of that body for ever, until no memory is left. With a code the server is told at once.
  const close = stream.close.bind(stream);
  stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
}

/** A proxy that speaks TLS shows a certificate of the cluster's authority, as kubectl wants it, or of a public one. */
function proxyTrust({ ca }: TlsIdentity): { readonly ca?: string[] } {
  return ca === undefined ? {} : { ca: [ca, ...getCACertificates("default")] };
}

const keptAlive = { keepAlive: true, keepAliveInitialDelay: 10_000 };

/**
 * A state of a hundred megabytes comes in one stream: with the usual windows it would come in sips. The size of a
 * stream's window is read from here, though the types name another place.
 */
const h2Options = {
  pingInterval: 10_000,
  maxConcurrentStreams: 200,
  initialWindowSize: 4 << 20,
  connectionWindowSize: 16 << 20,
};

const shared = { allowH2: true, pipelining: 1, h2Options };

function endsOf({ ca, certificate, key, serverName, isInsecure }: TlsIdentity) {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(isInsecure === true ? { rejectUnauthorized: false } : {}),
  };
}
