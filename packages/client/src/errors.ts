// What can go wrong on the way to a cluster, and how to ask what a cluster's own refusal means.

import { StatusError, type StatusReason } from "@keelson/kube";

/** No answer came: the connection could not be made, broke, or spoke something else than HTTP. */
export class ConnectionFailed extends Error {
  readonly code = "CONNECTION_FAILED";
  /** Whether the request may have reached the server: then a write may have happened. */
  readonly maybeSent: boolean;

  constructor(message: string, { maybeSent, cause }: { maybeSent: boolean; cause: unknown }) {
    super(message, { cause });
    this.name = "ConnectionFailed";
    this.maybeSent = maybeSent;
  }
}

/** The time given to a request is up. A write may have happened. */
export class DeadlineExceeded extends Error {
  readonly code = "DEADLINE_EXCEEDED";
  readonly timeoutMs: number;

  constructor(what: string, timeoutMs: number, options: ErrorOptions = {}) {
    super(`${what} took longer than ${timeoutMs} ms`, options);
    this.name = "DeadlineExceeded";
    this.timeoutMs = timeoutMs;
  }
}

/** Too many requests of ours wait for their turn already. */
export class ClientBusy extends Error {
  readonly code = "CLIENT_BUSY";

  constructor(waiting: number) {
    super(`${waiting} requests wait for their turn already`);
    this.name = "ClientBusy";
  }
}

/** The server answered with something that is not what was asked for. */
export class UnexpectedAnswer extends Error {
  readonly code = "UNEXPECTED_ANSWER";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "UnexpectedAnswer";
  }
}

/** The cluster does not serve this kind, as far as its discovery says. */
export class UnknownKind extends Error {
  readonly code = "UNKNOWN_KIND";
  readonly apiVersion: string;
  readonly kind: string;

  constructor({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) {
    super(`the cluster serves no ${kind} of ${apiVersion}`);
    this.name = "UnknownKind";
    this.apiVersion = apiVersion;
    this.kind = kind;
  }
}

/** The cluster knows of the group, but cannot say what is in it: whoever serves it does not answer. */
export class GroupUnavailable extends Error {
  readonly code = "GROUP_UNAVAILABLE";
  readonly apiVersion: string;

  constructor(apiVersion: string) {
    super(`the cluster cannot say which kinds ${apiVersion} has`);
    this.name = "GroupUnavailable";
    this.apiVersion = apiVersion;
  }
}

/** Whether the cluster refused with one of these reasons. */
export function hasReason(error: unknown, ...reasons: readonly StatusReason[]): boolean {
  if (!(error instanceof StatusError)) return false;
  const { reason } = error.status;
  return reason !== undefined && reasons.includes(reason);
}

/** The object, or its kind, is not there. */
export function isNotFound(error: unknown): boolean {
  return hasReason(error, "NotFound") || hasCode(error, 404);
}

/** Somebody else has written in between, or a precondition does not hold. */
export function isConflict(error: unknown): boolean {
  return hasReason(error, "Conflict");
}

export function isAlreadyExists(error: unknown): boolean {
  return hasReason(error, "AlreadyExists");
}

/** What was asked for is older than what the server remembers. */
export function isExpired(error: unknown): boolean {
  return hasReason(error, "Expired", "Gone") || hasCode(error, 410);
}

/** Whether the cluster refused with this HTTP code. Proxies answer without a reason. */
export function hasCode(error: unknown, code: number): boolean {
  return error instanceof StatusError && error.status.code === code;
}

/** Whether the same may well succeed later, though nobody changes anything: nobody answered, or asked for patience. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StatusError) return [429, 500, 502, 503, 504].includes(error.status.code);
  return (
    error instanceof ConnectionFailed ||
    error instanceof DeadlineExceeded ||
    error instanceof ClientBusy ||
    error instanceof GroupUnavailable
  );
}

/** How long the server asks us to wait, if it does. */
export function retryAfterMsOf(error: unknown): number | undefined {
  if (!(error instanceof StatusError)) return undefined;
  const seconds = error.status.details?.retryAfterSeconds;
  return seconds === undefined ? undefined : seconds * 1_000;
}
