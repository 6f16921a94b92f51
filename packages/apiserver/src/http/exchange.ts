// One request on its way through the server.

import type { User } from "../auth/user.ts";
import type { Resource } from "../resources/resource.ts";
import type { RequestInfo, ResourceRequest } from "./request-info.ts";

/** A request as the transport gives it. */
export interface Incoming {
  readonly method: string;
  /** The path without the query string, as it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** What method, path and query say. */
  readonly info: RequestInfo;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  readonly auditId: string;
  /** Aborts when the client leaves, the time is up or the server stops. */
  readonly signal: AbortSignal;
}

/** A request of somebody we know, about something we know. */
export interface Exchange extends Incoming {
  readonly user: User;
  /** Says something to the client in a `Warning` header; each text once. */
  readonly warn: (text: string) => void;
  readonly warnings: readonly string[];
}

export interface ResourceExchange extends Exchange {
  readonly info: ResourceRequest;
  readonly resource: Resource;
}

/** A header that is sent once; the first value of one that is repeated. */
export function header({ headers }: Incoming, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : (value?.[0] ?? "");
}

/** The value of a `Warning` header: `299 - "text"`, in UTF-8, of which Node sends each byte as a character. */
export function warningHeader(text: string): string {
  return `299 - "${Buffer.from(text.replaceAll(/["\\]/g, "\\$&")).toString("latin1")}"`;
}
