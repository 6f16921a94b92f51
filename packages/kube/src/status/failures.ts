// The failures of the Kubernetes API with their exact texts (KB 53). The reason decides the code.

import type { FieldError } from "./field-error.ts";
import { tellFieldErrors } from "./field-error.ts";
import { quote } from "../go-text/quote.ts";
import { codeOfReason, type StatusReason } from "./reason.ts";
import {
  printGroupKind,
  printGroupResource,
  StatusError,
  type GroupKind,
  type GroupResource,
  type StatusCause,
  type StatusDetails,
} from "./status.ts";

export function notFound(resource: GroupResource, name: string): StatusError {
  const message = `${printGroupResource(resource)} ${quote(name)} not found`;
  return failure("NotFound", message, aboutResource(resource, name));
}

export function alreadyExists(resource: GroupResource, name: string): StatusError {
  const message = `${printGroupResource(resource)} ${quote(name)} already exists`;
  return failure("AlreadyExists", message, aboutResource(resource, name));
}

/** Eight generated names in a row were taken. */
export function generateNameConflict(resource: GroupResource, name: string): StatusError {
  const named = `${printGroupResource(resource)} ${quote(name)}`;
  const message = `${named} already exists, the server was not able to generate a unique name for the object`;
  return failure("AlreadyExists", message, {
    ...aboutResource(resource, name),
    retryAfterSeconds: 1,
  });
}

export function unauthorized(message = "Unauthorized"): StatusError {
  return failure("Unauthorized", message);
}

/** Without a resource the refusal is about a path; without a name about the resource. */
export function forbidden(
  resource: GroupResource | undefined,
  name: string,
  why: string,
): StatusError {
  if (resource === undefined) return failure("Forbidden", `forbidden: ${why}`, {});
  const named = printGroupResource(resource) + (name === "" ? "" : ` ${quote(name)}`);
  return failure("Forbidden", `${named} is forbidden: ${why}`, aboutResource(resource, name));
}

/** Who may not do what: the second half of `forbidden`. `namespace` is undefined at the cluster scope. */
export function cannot(
  user: string,
  verb: string,
  { group, resource }: GroupResource,
  namespace: string | undefined,
): string {
  const what = `User ${quote(user)} cannot ${verb} resource ${quote(resource)} in API group ${quote(group)}`;
  return namespace === undefined
    ? `${what} at the cluster scope`
    : `${what} in the namespace ${quote(namespace)}`;
}

/** Who may not do what to a path: the second half of `forbidden` without a resource. */
export function cannotPath(user: string, verb: string, path: string): string {
  return `User ${quote(user)} cannot ${verb} path ${quote(path)}`;
}

export function conflict(resource: GroupResource, name: string, why: string): StatusError {
  const named = `${printGroupResource(resource)} ${quote(name)}`;
  const message = `Operation cannot be fulfilled on ${named}: ${why}`;
  return failure("Conflict", message, aboutResource(resource, name));
}

/** A write that expects an older revision (KB 26). */
export function modifiedConflict(resource: GroupResource, name: string): StatusError {
  return conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}

/** An apply that would take fields from others (KB 42). */
export function applyConflict(causes: readonly StatusCause[], message: string): StatusError {
  return failure("Conflict", message, { causes });
}

export function gone(message: string): StatusError {
  return failure("Gone", message);
}

/** What was asked for is no longer kept: list again. `next` continues at a fresh revision (KB 18). */
export function expired(message: string, next?: string): StatusError {
  return failure("Expired", message, undefined, next === undefined ? {} : { continue: next });
}

/** Fields that are not as they must be. A name of "" is shown as such, as Kubernetes does. */
export function invalid(kind: GroupKind, name: string, errors: readonly FieldError[]): StatusError {
  const { text, causes } = tellFieldErrors(errors);
  const why = errors.length === 0 ? "" : `: ${text}`;
  return failure("Invalid", `${printGroupKind(kind)} ${quote(name)} is invalid${why}`, {
    ...named(name),
    ...grouped(kind.group),
    ...(kind.kind === "" ? {} : { kind: kind.kind }),
    ...(errors.length === 0 ? {} : { causes }),
  });
}

export function badRequest(message: string): StatusError {
  return failure("BadRequest", message);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return failure("TooManyRequests", message, { retryAfterSeconds });
}

export function serviceUnavailable(message: string): StatusError {
  return failure("ServiceUnavailable", message);
}

/** A verb that the resource does not have. */
export function methodNotAllowed(resource?: GroupResource): StatusError {
  const message = "the server does not allow this method on the requested resource";
  return failure(
    "MethodNotAllowed",
    message,
    resource === undefined ? {} : aboutResource(resource, ""),
  );
}

/** A verb that a subresource of the resource does not have, named. */
export function methodNotSupported(resource: GroupResource, action: string): StatusError {
  const message = `${action} is not supported on resources of kind ${quote(printGroupResource(resource))}`;
  return failure("MethodNotAllowed", message, aboutResource(resource, ""));
}

/** A resource that its group does not have. */
export function resourceNotFound(): StatusError {
  return failure("NotFound", "the server could not find the requested resource", {});
}

export function serverTimeout(
  resource: GroupResource,
  operation: string,
  retryAfterSeconds: number,
): StatusError {
  const message = `The ${operation} operation against ${printGroupResource(resource)} could not be completed at this time, please try again.`;
  return failure("ServerTimeout", message, {
    ...aboutResource(resource, operation),
    retryAfterSeconds,
  });
}

export function timeout(message: string, retryAfterSeconds = 0): StatusError {
  const details = retryAfterSeconds === 0 ? {} : { retryAfterSeconds };
  return failure("Timeout", `Timeout: ${message}`, details);
}

/** A revision that the store has not reached within the wait (KB 20). */
export function tooLargeResourceVersion(asked: string, current: string): StatusError {
  return failure("Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

/** A bug, or a part that is away. The message must say nothing that the caller may not know. */
export function internalError(message: string): StatusError {
  return failure("InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** A failure that Kubernetes answers with 500, its text and no reason. */
export function unexplained(message: string): StatusError {
  return new StatusError({ ...envelope, message, code: 500 });
}

export function requestTooLarge(message: string): StatusError {
  return failure("RequestEntityTooLarge", `Request entity too large: ${message}`);
}

/** A body in a format that the endpoint does not read. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const list = accepted.join(", ");
  const message = `the body of the request was in an unknown format - accepted media types include: ${list}`;
  return failure("UnsupportedMediaType", message);
}

/** No format that the client accepts. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${accepted.join(", ")}`;
  return failure("NotAcceptable", message);
}

/** The wish for another shape, `meta.k8s.io/v1, Kind=Table`, in a format that cannot hold it. */
export function notAcceptableConversion(target: string, accepted: readonly string[]): StatusError {
  const message = `only the following media types are accepted when converting to ${target}: ${accepted.join(", ")}`;
  return failure("NotAcceptable", message);
}

/** A patch that cannot be carried out, where Kubernetes says no more than this. */
export function unprocessable(): StatusError {
  return failure("Invalid", "the server rejected our request due to an error in our request", {});
}

const envelope = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
} as const;

function failure(
  reason: StatusReason,
  message: string,
  details?: StatusDetails,
  metadata: { readonly continue?: string } = {},
): StatusError {
  return new StatusError({
    ...envelope,
    metadata,
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code: codeOfReason[reason],
  });
}

function aboutResource({ group, resource }: GroupResource, name: string): StatusDetails {
  return { ...named(name), ...grouped(group), ...(resource === "" ? {} : { kind: resource }) };
}

function named(name: string): StatusDetails {
  return name === "" ? {} : { name };
}

function grouped(group: string): StatusDetails {
  return group === "" ? {} : { group };
}
