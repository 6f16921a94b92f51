// Every failure becomes a Status here, and nowhere else.

import { failures, StatusError, type GroupResource, type Status } from "@keelson/kube";
import { JsonSyntaxError } from "@keelson/base";
import {
  StoreError,
  type StoreErrorCode,
  Unavailable,
  Conflict,
  Expired,
  TooNew,
} from "@keelson/store";

import { HostUnavailable } from "./aggregated/host.ts";

/** What a failure is about. */
export interface Subject {
  readonly resource: GroupResource;
  readonly name: string;
}

/** A failure as its answer. What nobody expected says nothing of its cause: the caller logs that. */
export function toStatusError(error: unknown, subject?: Subject): StatusError {
  if (error instanceof StatusError)
    return isUnexplained(error) ? failures.badRequest(error.message) : error;
  if (error instanceof StoreError) return answers[error.code](error, subject ?? unknownSubject);
  if (error instanceof JsonSyntaxError) return failures.badRequest(error.message);
  if (error instanceof HostUnavailable) {
    return withRetry(failures.serviceUnavailable(`the host cluster is away: ${error.message}`), 1);
  }
  if (isTimeout(error)) {
    return failures.timeout("request did not complete within the requested timeout");
  }
  return failures.internalError("the server failed; its log says why");
}

/** Kubernetes answers 500 to some bodies that make no sense, but it is the client who can mend them. */
function isUnexplained({ status }: StatusError): boolean {
  return status.code === 500 && status.reason === undefined;
}

/** Whether the server itself is at fault, so that its log must tell. */
export function isOurFault(error: unknown): boolean {
  if (error instanceof StatusError) return false;
  if (error instanceof StoreError) return error.code === "Corrupt" || error.code === "Invalid";
  if (error instanceof HostUnavailable) return false; // It is said where it is noticed, once.
  return !(error instanceof JsonSyntaxError) && !isTimeout(error);
}

/** Whether a write found its object changed by somebody else. */
export function isMoved(error: unknown): boolean {
  return error instanceof Conflict;
}

const unknownSubject: Subject = { resource: { group: "", resource: "" }, name: "" };

type Answer = (error: StoreError, subject: Subject) => StatusError;

const answers: Readonly<Record<StoreErrorCode, Answer>> = {
  NotFound: (_, { resource, name }) => failures.notFound(resource, name),
  AlreadyExists: (_, { resource, name }) => failures.alreadyExists(resource, name),
  Conflict: (_, { resource, name }) => failures.modifiedConflict(resource, name),
  Expired: (error) =>
    failures.expired(
      error instanceof Expired
        ? `too old resource version: ${error.revision} (${error.floor})`
        : "too old resource version",
    ),
  TooNew: (error) =>
    error instanceof TooNew
      ? failures.tooLargeResourceVersion(String(error.revision), String(error.head))
      : failures.timeout("Too large resource version"),
  Invalid: (error) => failures.badRequest(error.message),
  Unavailable: (error) =>
    withRetry(
      failures.serviceUnavailable(`the database is not available: ${error.message}`),
      error instanceof Unavailable ? Math.max(1, Math.ceil(error.retryAfterMs / 1000)) : 1,
    ),
  Full: (error) => insufficientStorage(`the disk of the database is full: ${error.message}`),
  Corrupt: (error) => failures.internalError(error.message),
  SchemaMismatch: (error) => withRetry(failures.serviceUnavailable(error.message), 1),
  Locked: (error) => withRetry(failures.serviceUnavailable(error.message), 1),
};

function withRetry(error: StatusError, retryAfterSeconds: number): StatusError {
  const details = { ...error.status.details, retryAfterSeconds };
  return new StatusError({ ...error.status, details });
}

/** No reason of Kubernetes says it; its code does. */
function insufficientStorage(message: string): StatusError {
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    code: 507,
  };
  return new StatusError(status);
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}
