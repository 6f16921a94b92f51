// Who sends a request, by what it shows.

import type { X509Certificate } from "node:crypto";

import type { User } from "./user.ts";

/** What a request shows of its sender. */
export interface Credentials {
  /** The chain of the TLS client, its own certificate first; empty without one. Nobody has verified it yet. */
  readonly certificates: readonly X509Certificate[];
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /** All headers, names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A caller, and what its credential tells besides. */
export interface Authenticated {
  readonly user: User;
  /** What TokenReview answers for a bearer token. */
  readonly audiences?: readonly string[];
}

/**
 * Finds out who is calling. Undefined: these credentials say nothing to this authenticator. Throws
 * `Unauthorized` (a StatusError, 401) where they are meant for it and are wrong.
 */
export interface Authenticator {
  authenticate(
    credentials: Credentials,
    signal: AbortSignal,
  ): Authenticated | undefined | Promise<Authenticated | undefined>;
}
