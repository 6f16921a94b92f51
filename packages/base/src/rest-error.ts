// The one shape in which the REST APIs say no, and the one place that decides its HTTP status.

import type { JsonObject } from "./json/json.ts";

/** The HTTP status of each code. A new code does not compile until someone decides its answer here. */
export const restErrorStatus = {
  VALIDATION_FAILED: 400,
  AUTH_REQUIRED: 401,
  INVALID_EMAIL: 401,
  UNTRUSTED_GATEWAY: 401,
  INVALID_TOKEN: 401,
  FORBIDDEN: 403,
  RESOURCE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CLUSTER_NAME_EXISTS: 409,
  NODEPOOL_NAME_EXISTS: 409,
  GENERATION_CONFLICT: 409,
  STALE_GENERATION: 409,
  FUTURE_GENERATION: 409,
  PHASE_FORBIDS_DELETE: 409,
  RESOURCE_EXISTS: 409,
  RESOURCE_DELETING: 409,
  TARGET_EXISTS: 409,
  TARGET_UNKNOWN: 409,
  TARGET_IN_USE: 409,
  GLOBAL_COPY: 409,
  POSITION_EXPIRED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TARGET_REFUSED: 422,
  INTERNAL_ERROR: 500,
  TARGET_UNREACHABLE: 502,
  DATABASE_UNAVAILABLE: 503,
  IDENTITY_PROVIDER_UNAVAILABLE: 503,
} as const satisfies Record<RestErrorCode, number>;

export type RestErrorCode =
  | "VALIDATION_FAILED"
  | "AUTH_REQUIRED"
  | "INVALID_EMAIL"
  | "UNTRUSTED_GATEWAY"
  | "INVALID_TOKEN"
  | "FORBIDDEN"
  | "RESOURCE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "CLUSTER_NAME_EXISTS"
  | "NODEPOOL_NAME_EXISTS"
  | "GENERATION_CONFLICT"
  | "STALE_GENERATION"
  | "FUTURE_GENERATION"
  | "PHASE_FORBIDS_DELETE"
  | "RESOURCE_EXISTS"
  | "RESOURCE_DELETING"
  | "TARGET_EXISTS"
  | "TARGET_UNKNOWN"
  | "TARGET_IN_USE"
  | "GLOBAL_COPY"
  | "POSITION_EXPIRED"
  | "PRECONDITION_FAILED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "TARGET_REFUSED"
  | "INTERNAL_ERROR"
  | "TARGET_UNREACHABLE"
  | "DATABASE_UNAVAILABLE"
  | "IDENTITY_PROVIDER_UNAVAILABLE";

export interface RestErrorOptions extends ErrorOptions {
  /** Facts for the caller; `{}` unless told. Never a secret, never text of a driver. */
  readonly details?: JsonObject;
  /** Headers of the reply, in lower case: `allow` for `METHOD_NOT_ALLOWED`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Becomes the header `retry-after`. What is unavailable says 5 unless told. */
  readonly retryAfterSeconds?: number;
}

/** A refusal that the caller of a REST API can act on. Message, details and headers are shown to the caller; the cause is not. */
export class RestError extends Error {
  readonly code: RestErrorCode;
  readonly details: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RestErrorCode, message: string, options: RestErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "RestError";
    this.code = code;
    this.details = options.details ?? {};
    const retryAfterSeconds = options.retryAfterSeconds ?? retryAfterSecondsOf[code];
    this.headers = {
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
      ...options.headers,
    };
  }

  /** The HTTP status, which the code alone decides. */
  get status(): number {
    return restErrorStatus[this.code];
  }
}

/** What is wrong with one field of a request. */
export interface FieldProblem {
  /** The path of the field: `spec.platform.type`, `changes[3].name`. */
  readonly field: string;
  /** What is wrong with it, starting small, without a full stop: `must not be empty`. */
  readonly message: string;
  /** Which element of a batch it concerns. */
  readonly index?: number;
}

/** `VALIDATION_FAILED` with `details.fields`. Takes all problems at once, at least one; the message is about the first. */
export function validationFailed(
  ...problems: readonly [FieldProblem, ...FieldProblem[]]
): RestError {
  const [{ field, message }] = problems;
  return new RestError("VALIDATION_FAILED", `${field}: ${message}`, {
    details: { fields: problems.map((problem) => ({ ...problem })) },
  });
}

/** Throws it with all problems, if there are any. */
export function refuseProblems(problems: readonly FieldProblem[]): void {
  const [first, ...others] = problems;
  if (first !== undefined) throw validationFailed(first, ...others);
}

/** What a REST server sends for an error. Written with `writeJson`: details may hold exact numbers. */
export interface RestReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error: string;
    readonly code: RestErrorCode;
    readonly details: JsonObject;
  };
}

/** The reply for any error. One that is not a `RestError` becomes an internal one that says nothing of its cause. */
export function toRestReply(error: unknown): RestReply {
  const shown =
    error instanceof RestError ? error : new RestError("INTERNAL_ERROR", "internal error");
  const { status, headers, message, code, details } = shown;
  return { status, headers, body: { error: message, code, details } };
}

const retryAfterSecondsOf: Partial<Record<RestErrorCode, number>> = {
  DATABASE_UNAVAILABLE: 5,
  IDENTITY_PROVIDER_UNAVAILABLE: 5,
};
