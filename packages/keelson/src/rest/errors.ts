// Every way in which a request can fail becomes the one error shape. No text of the framework escapes.

import { RestError, validationFailed } from "@keelson/base";
import type { FastifyError } from "fastify";
import { fieldProblems } from "./validation.ts";

/** The error that the caller is shown; what we do not know stays what it is, and becomes an internal one. */
export function restErrorFrom(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RestError) return error;
  const { code, statusCode, validation, validationContext } = error as Partial<FastifyError>;
  if (validation !== undefined) {
    const root = validationContext === "querystring" ? "query" : (validationContext ?? "body");
    const [first, ...others] = fieldProblems(validation, root);
    return validationFailed(first, ...others);
  }
  if (typeof code !== "string" || !code.startsWith("FST_ERR_")) return error;
  const known = frameworkErrors[code];
  if (known !== undefined) return known(error);
  // What else the framework refuses with a 4xx is something about the request, which we have not met yet.
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? new RestError("VALIDATION_FAILED", "the request is not valid", { cause: error })
    : error;
}

const frameworkErrors: Readonly<Record<string, (cause: Error) => RestError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: (cause) =>
    new RestError("PAYLOAD_TOO_LARGE", "the body is too large", { cause }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (cause) =>
    new RestError("UNSUPPORTED_MEDIA_TYPE", "the body must be application/json", { cause }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: (cause) =>
    new RestError("VALIDATION_FAILED", "the body is not as long as Content-Length says", { cause }),
  FST_ERR_BAD_URL: (cause) =>
    new RestError("VALIDATION_FAILED", "the path is not valid", { cause }),
  FST_ERR_MAX_PARAM_LENGTH: (cause) =>
    new RestError("RESOURCE_NOT_FOUND", "no such route", { cause }),
};
