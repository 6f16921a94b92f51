/** The tokens file cannot be used; the message names every problem of it. */
export class TokensFileError extends Error {
  override readonly name = "TokensFileError";
  readonly code = "TOKENS_FILE";
}
