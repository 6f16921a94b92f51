import type { IncomingHttpHeaders } from "node:http";
import type { Random } from "@keelson/base";

/**
 * Gives the id of a request: the caller's `X-Request-ID` if it is fit for a log line, else a new one. New ones
 * are a number after something random of this process: a draw for each would cost more than the identity.
 */
export function requestIds(random: Random): (headers: IncomingHttpHeaders) => string {
  const ofProcess = random.uuid().slice(0, 18);
  let count = 0;
  return (headers) => {
    const sent = headers["x-request-id"];
    if (typeof sent === "string" && /^[\x21-\x7e]{1,128}$/.test(sent)) return sent;
    return `${ofProcess}-${(++count).toString(36)}`;
  };
}
