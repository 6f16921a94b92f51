// The one table from the reason of a Status to its HTTP code.

/** Why a request failed, as `Status.reason`. */
export type StatusReason = keyof typeof codes;

const codes = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

/** The HTTP code of each reason. */
export const codeOfReason: Readonly<Record<StatusReason, number>> = codes;
