// Why a step could not be done, as its condition shows it.

export type StepReason =
  /** What we would make is somebody else's. */
  | "Conflict"
  /** No such service is configured. */
  | "NotConfigured"
  /** The service does not answer, or not in time. */
  | "Unreachable"
  /** The service does not let us. */
  | "Refused"
  /** The object asks for what cannot be. */
  | "InvalidSpec"
  | "MigrationFailed"
  | "CleanupFailed";

/** The message names the object it is about. Nothing secret is in it: it is shown in status, events and logs. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly reason: StepReason;
  /** When the service itself asked for patience. */
  readonly retryAfterMs: number | undefined;

  constructor(
    reason: StepReason,
    message: string,
    { cause, retryAfterMs }: { readonly cause?: unknown; readonly retryAfterMs?: number } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}
