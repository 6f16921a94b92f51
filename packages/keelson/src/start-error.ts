// Why a start did not succeed, in one sentence each, and the exit code that tells scripts which it was.

/** Everything that a user can do something about. */
export type StartErrorCode =
  | "USAGE"
  | "PORT_TAKEN"
  | "DATA_DIR_LOCKED"
  | "DATA_DIR_NOT_WRITABLE"
  | "DATABASE_UNAVAILABLE"
  | "HOST_UNAVAILABLE";

/** The exit codes. 0 is an orderly stop, 1 any other failure, 130 a second Ctrl-C. */
export const exitCodes = {
  USAGE: 2,
  PORT_TAKEN: 3,
  DATA_DIR_LOCKED: 4,
  DATA_DIR_NOT_WRITABLE: 5,
  DATABASE_UNAVAILABLE: 6,
  HOST_UNAVAILABLE: 7,
} as const satisfies Record<StartErrorCode, number>;

export const exitInterrupted = 130;
export const exitFailure = 1;

/** The message is a sentence for the user, without a full stop; the cause is for those who look closer. */
export class StartError extends Error {
  override readonly name = "StartError";
  readonly code: StartErrorCode;

  constructor(code: StartErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
