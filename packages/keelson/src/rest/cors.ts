// Which web pages may call us, and what they may send and see. Never with credentials: nothing ambient counts.

import type { IncomingHttpHeaders } from "node:http";
import { RestError } from "@keelson/base";
import { isLoopbackHost } from "../loopback.ts";

export interface CorsOptions {
  /** Whether a credential is needed. Without one any page could drive a laptop's control plane. */
  readonly isAuthenticated: boolean;
  /** Origins that were allowed explicitly, `*` for all; undefined is what is safe. */
  readonly origins: readonly string[] | undefined;
}

export interface CorsPolicy {
  /** Refuses what must not even be looked at; returns nothing otherwise. */
  check(headers: IncomingHttpHeaders): RestError | undefined;
  /** The headers for a reply to a request of this origin; none where its page may not read the reply. What comes without one is no page, and no cache keeps an answer. */
  replyHeaders(origin: string): Readonly<Record<string, string>>;
  /** The headers that answer a preflight. */
  readonly preflightHeaders: Readonly<Record<string, string>>;
}

/** Whether this is a preflight: a question of the browser, which carries no credential. */
export function isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
  return (
    method === "OPTIONS" &&
    headers.origin !== undefined &&
    headers["access-control-request-method"] !== undefined
  );
}

export function corsPolicy({ isAuthenticated, origins }: CorsOptions): CorsPolicy {
  const listed = new Set(origins);
  const allowsAll = listed.has("*");
  const allows = (origin: string): boolean =>
    allowsAll || listed.has(origin) || (!isAuthenticated && isLoopbackOrigin(origin));

  // Callers use few names for this machine, again and again.
  const knownHosts = new Map<string | undefined, boolean>();
  const isOurs = (host: string | undefined): boolean => {
    const known = knownHosts.get(host);
    if (known !== undefined) return known;
    const found = isLoopbackAuthority(host);
    if (knownHosts.size < knownHostsMax) knownHosts.set(host, found);
    return found;
  };

  const everyone = { "access-control-allow-origin": "*", "access-control-expose-headers": exposed };
  const nobody = { vary: "origin" };
  return {
    check: isAuthenticated
      ? () => undefined
      : ({ host, origin }) => {
          if (!isOurs(host)) {
            return forbidden(`host ${shown(host)} is not this machine`);
          }
          if (origin !== undefined && !allows(origin)) {
            return forbidden(`origin ${shown(origin)} may not call this server`);
          }
          return undefined;
        },
    replyHeaders: (origin) => {
      if (allowsAll) return everyone;
      if (!allows(origin)) return nobody;
      return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": exposed,
        vary: "origin",
      };
    },
    preflightHeaders: {
      "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
      "access-control-allow-headers": [
        ...requestHeaders,
        ...(isAuthenticated ? [] : identityHeaders),
      ].join(", "),
      "access-control-max-age": "600",
    },
  };
}

/** Whether an `Origin` is a page of this machine. `null`, which sandboxed pages send, is not. */
function isLoopbackOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return (protocol === "http:" || protocol === "https:") && isLoopbackHost(hostname);
}

/** Whether a `Host` is this machine, at any port. None at all is not. */
function isLoopbackAuthority(host: string | undefined): boolean {
  const [, name] = /^(\[[^\]]+\]|[^:]+)(?::\d{1,5})?$/.exec(host ?? "") ?? [];
  return name !== undefined && isLoopbackHost(name);
}

const knownHostsMax = 100;

const requestHeaders = [
  "Origin",
  "Content-Type",
  "Accept",
  "Authorization",
  "If-Match",
  "Last-Event-ID",
  "X-Request-ID",
];
const identityHeaders = ["X-User-Email", "X-User-Roles", "X-Organization-ID"];
const exposed = "ETag, X-Request-ID, Retry-After, Allow";

function forbidden(reason: string): RestError {
  return new RestError("FORBIDDEN", `${reason}: without authentication only this machine may call`);
}

function shown(header: string | undefined): string {
  return header === undefined ? "(none)" : JSON.stringify(header.slice(0, 200));
}
