import type { IncomingHttpHeaders } from "node:http";
import type { Random } from "@keelson/base";

/** The caller's `X-Request-ID` if it is fit for a log line, else a new one. */
export function requestIdFrom(headers: IncomingHttpHeaders, random: Random): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && /^[\x21-\x7e]{1,128}$/.test(sent) ? sent : random.uuid();
}
