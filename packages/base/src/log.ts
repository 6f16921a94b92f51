/**
 * Where the story of the process goes: a constant message, and fields for what varies.
 *
 * `error`: somebody must act. `warn`: somebody may want to know. `info`: the story of the process. `debug`: the
 * story of a request. Logging never throws and never waits. Fields carry no bodies and no secrets; an error
 * goes under `error`.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;

  /** A log whose lines carry these fields too; a line's own fields win. */
  child(fields: object): Log;
}

/** The names of the levels, from the quietest to the loudest. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** A log that keeps nothing. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};
