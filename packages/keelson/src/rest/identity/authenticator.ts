// One identity for every service, whatever the credential was.

import type { IncomingMessage } from "node:http";
import { RestError, type Identity } from "@keelson/base";
import { domainOf, isEmail } from "../../email.ts";

/** Finds out who sends a request. */
export interface Authenticator {
  /** Whether a credential is needed at all. */
  readonly isAuthenticated: boolean;
  /**
   * The caller, or throws a `RestError` of status 401. Only slow ways return a promise: most requests are
   * answered without one.
   */
  authenticate(request: IncomingMessage): Identity | Promise<Identity>;
  /** Keeps what it knows up to date until `signal` aborts. */
  keepFresh?(signal: AbortSignal): Promise<void>;
}

/** What headers say about a caller; believed only where the mode allows it. */
export interface Claimed {
  readonly email: string | undefined;
  readonly roles: readonly string[];
  readonly organizationId: string | undefined;
}

/** Reads `X-User-Email`, `X-User-Roles` and `X-Organization-ID`. Empty ones count as absent. */
export function claimedBy({ headers }: IncomingMessage): Claimed {
  return {
    email: textOf(headers["x-user-email"]),
    roles: rolesFrom(textOf(headers["x-user-roles"]) ?? ""),
    organizationId: textOf(headers["x-organization-id"]),
  };
}

/** Roles between commas. */
export function rolesFrom(text: string): readonly string[] {
  return text
    .split(",")
    .map((role) => role.trim())
    .filter((role) => role !== "");
}

/** The names in every identity. Throws `INVALID_EMAIL` for what is no address. */
export function namesOf({
  email,
  roles,
  organizationId,
}: Claimed & { readonly email: string }): Pick<
  Identity,
  "user" | "domain" | "roles" | "organizationId"
> {
  if (!isEmail(email)) {
    throw new RestError("INVALID_EMAIL", "the caller's e-mail address is not an address");
  }
  return {
    user: email,
    domain: domainOf(email),
    roles,
    ...(organizationId === undefined ? {} : { organizationId }),
  };
}

/** The token of `Authorization: Bearer …`. Throws `AUTH_REQUIRED` where there is none. */
export function bearerToken({ headers }: IncomingMessage): string {
  const { authorization = "" } = headers;
  const isBearer = authorization.startsWith("Bearer ") || /^bearer /i.test(authorization);
  const token = isBearer ? authorization.slice("Bearer ".length).trim() : "";
  if (token === "" || token.includes(" ")) {
    throw new RestError("AUTH_REQUIRED", "a bearer token is needed", { headers: challenge() });
  }
  return token;
}

export function invalidToken(message: string, options: ErrorOptions = {}): RestError {
  return new RestError("INVALID_TOKEN", message, {
    ...options,
    headers: challenge("invalid_token"),
  });
}

/** What RFC 6750 wants beside a 401. */
function challenge(error?: string): Record<string, string> {
  const detail = error === undefined ? "" : `, error="${error}"`;
  return { "www-authenticate": `Bearer realm="keelson"${detail}` };
}

function textOf(header: string | string[] | undefined): string | undefined {
  const text = (Array.isArray(header) ? header.join(", ") : header)?.trim();
  return text === "" ? undefined : text;
}
