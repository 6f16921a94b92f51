// How long a request may take (KB 54).

import { BadDuration, failures, parseDuration } from "@keelson/kube";

import type { RequestInfo } from "./request-info.ts";

const defaultMs = 60_000;
/** No write of a single object is given longer. */
const writeMsMax = 34_000;
const shortVerbs = new Set(["create", "update", "patch", "delete"]);

/** The time that a request has; undefined for one that may last. Throws a `BadRequest`. */
export function requestTimeoutMs(info: RequestInfo, query: URLSearchParams): number | undefined {
  if (info.isResource && info.verb === "watch") return undefined;
  const askedMs = askedFor(query.get("timeout"));
  const ms = askedMs <= 0 || askedMs > defaultMs ? defaultMs : askedMs;
  return info.isResource && shortVerbs.has(info.verb) ? Math.min(ms, writeMsMax) : ms;
}

function askedFor(text: string | null): number {
  if (text === null || text === "") return 0;
  try {
    return Number(parseDuration(text) / 1_000_000n);
  } catch (error) {
    if (!(error instanceof BadDuration)) throw error;
    throw failures.badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}
