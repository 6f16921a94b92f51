/**
 * Credentials that are meant for an authenticator and are wrong. The message says why, as TokenReview shows it; a
 * caller hears no more than 401.
 */
export class BadCredentials extends Error {
  override readonly name = "BadCredentials";
  readonly code = "BAD_CREDENTIALS";
}
