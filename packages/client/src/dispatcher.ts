// Connections to a cluster: directly or by a proxy, HTTP/2 where the server has it, and none that stays dead unnoticed.

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
