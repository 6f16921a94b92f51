// Connections to an API server as somebody: by certificate, by token, or as nobody in particular.

import type { OutgoingHttpHeaders } from "node:http";
import { Agent } from "node:https";

export interface ClientOptions {
  readonly url: string;
  readonly ca: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

export interface Connection {
  /** Kept-alive connections; destroy it. */
  readonly agent: Agent;
  /** What every request says of its sender. */
  readonly headers: OutgoingHttpHeaders;
}

export function connectionOf(
  { ca, certificate, key, token }: ClientOptions,
  { connectionsMax }: { readonly connectionsMax: number },
): Connection {
  return {
    agent: new Agent({
      ca,
      ...(certificate === undefined ? {} : { cert: certificate }),
      ...(key === undefined ? {} : { key }),
      keepAlive: true,
      maxSockets: connectionsMax,
      scheduling: "lifo",
    }),
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
}
