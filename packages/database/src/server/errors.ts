/** Why a PostgreSQL server of ours did not start or stop. */
export type PostgresServerErrorCode =
  | "account-missing"
  | "binaries-missing"
  | "data-dir-in-use"
  | "data-dir-not-writable"
  | "data-dir-other-version"
  | "data-dir-unreachable"
  | "disk-full"
  | "port-taken"
  | "start-failed"
  | "stop-failed";

/** Says in one sentence what is wrong with the server and which folder, port or file it is about. */
export class PostgresServerError extends Error {
  override readonly name = "PostgresServerError";
  readonly code: PostgresServerErrorCode;

  constructor(code: PostgresServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
