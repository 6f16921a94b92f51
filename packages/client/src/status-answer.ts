// From an answer of a server to the error it stands for.

import { isJsonArray, isJsonObject, readJson, type JsonObject } from "@keelson/base";
import { codeOfReason, memberOf, StatusError, type Status, type StatusReason } from "@keelson/kube";

import { objectsOf } from "./json-parts.ts";
import type { HttpResponse } from "./transport.ts";

/**
 * The error of an answer that is not a success. Proxies and servers in trouble answer with any text: then the
 * HTTP code gives the reason.
 */
export function statusErrorOf(response: Pick<HttpResponse, "status" | "text" | "headers">) {
  const { status: code, text, headers } = response;
  const parsed = statusOf(text);
  const status: Status = parsed ?? {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the server answered ${code}: ${text.trim().slice(0, messageCharactersMax)}`,
    ...(reasons[code] === undefined ? {} : { reason: reasons[code] }),
    code,
  };
  const after = retryAfterOf(headers);
  if (after === undefined || status.details?.retryAfterSeconds !== undefined) {
    return new StatusError(status);
  }
  return new StatusError({ ...status, details: { ...status.details, retryAfterSeconds: after } });
}

/** A Status that is in a watch as an `ERROR`; anything else there is an internal error. */
export function statusErrorOfObject(object: JsonObject): StatusError {
  const status = asStatus(object);
  if (status !== undefined) return new StatusError(status);
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "the watch ended with an error that is no Status",
    reason: "InternalError",
    code: 500,
  });
}

/** How long the server asks us to wait, in seconds. Dates are not used by Kubernetes. */
function retryAfterOf(headers: HttpResponse["headers"]): number | undefined {
  const header = headers["retry-after"];
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

const messageCharactersMax = 1_000;

const reasons: Readonly<Record<number, StatusReason>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function statusOf(text: string): Status | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value = readJson(text);
    return isJsonObject(value) ? asStatus(value) : undefined;
  } catch {
    return undefined; // No JSON, no Status: the caller has the text.
  }
}

function asStatus(object: JsonObject): Status | undefined {
  const code = memberOf(object, "code");
  if (memberOf(object, "kind") !== "Status" || typeof code !== "number") return undefined;
  const metadata = memberOf(object, "metadata");
  const details = memberOf(object, "details");
  const message = memberOf(object, "message");
  const reason = memberOf(object, "reason");
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: isJsonObject(metadata) ? metadata : {},
    status: memberOf(object, "status") === "Success" ? "Success" : "Failure",
    ...(typeof message === "string" ? { message } : {}),
    ...(isReason(reason) ? { reason } : {}),
    ...(isJsonObject(details) ? { details: asDetails(details) } : {}),
    code,
  };
}

/** Its causes are objects, or there are none. */
function asDetails(details: JsonObject): JsonObject {
  const { causes, ...rest } = details;
  return isJsonArray(causes) ? { ...rest, causes: objectsOf(causes) } : rest;
}

function isReason(value: unknown): value is StatusReason {
  return typeof value === "string" && Object.hasOwn(codeOfReason, value);
}
