// Bearer tokens: whoever knows one is its user.

import type { Authenticated, Authenticator, Credentials } from "./authenticator.ts";
import { BadCredentials } from "./bad-credentials.ts";
import { joinErrors } from "./rbac/rbac-rules.ts";

/**
 * Finds the user of a token that is meant for one of the audiences. Undefined: the token says nothing to it. Throws
 * `BadCredentials` where it does, and is wrong.
 */
export interface TokenAuthenticator {
  authenticateToken(
    token: string,
    audiences: readonly string[],
    signal: AbortSignal,
  ): Authenticated | undefined | Promise<Authenticated | undefined>;
}

/** Asks one after the other. If nobody knows the token, what they said against it is thrown together. */
export function unionTokens(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  return {
    async authenticateToken(token, audiences, signal) {
      const refusals: string[] = [];
      for (const authenticator of authenticators) {
        try {
          const found = await authenticator.authenticateToken(token, audiences, signal);
          if (found !== undefined) return found;
        } catch (error) {
          if (!(error instanceof BadCredentials)) throw error;
          refusals.push(error.message);
        }
      }
      if (refusals.length > 0) throw new BadCredentials(joinErrors(refusals));
      return undefined;
    },
  };
}

/** Reads `Authorization: Bearer …`. A token that nobody knows is wrong. */
export function bearerAuthenticator(
  tokens: TokenAuthenticator,
  audiences: readonly string[],
): Authenticator {
  return {
    authenticate({ authorization }: Credentials, signal) {
      const token = bearerToken(authorization);
      if (token === undefined) return undefined;
      return authenticateBearer(tokens, { token, audiences }, signal);
    },
  };
}

/** As a request with this token would be judged. */
export async function authenticateBearer(
  tokens: TokenAuthenticator,
  { token, audiences }: { readonly token: string; readonly audiences: readonly string[] },
  signal: AbortSignal,
): Promise<Authenticated> {
  const found = await tokens.authenticateToken(token, audiences, signal);
  if (found === undefined) throw new BadCredentials("invalid bearer token");
  return found;
}

function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const [scheme = "", token = ""] = authorization.trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}
