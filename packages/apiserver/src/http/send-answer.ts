// An answer on its way out.

import type { OutgoingHttpHeaders } from "node:http";

import type { Answer } from "./answer.ts";
import { warningHeader, type Incoming } from "./exchange.ts";
import { isGone, respond, type Output } from "./wire.ts";

/** Sends a whole answer. */
export function send(
  output: Output,
  { auditId }: Incoming,
  { code, contentType, body, headers }: Answer,
  warnings: readonly string[],
): void {
  if (isGone(output)) return;
  const head: OutgoingHttpHeaders = {
    "audit-id": auditId,
    "cache-control": "no-cache, private",
  };
  if (headers !== undefined) Object.assign(head, headers);
  const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  // A 304 says nothing of a body: caches would take it for news of the one they hold.
  if (code !== 304) {
    if (contentType !== "") head["content-type"] = contentType;
    head["content-length"] = bytes;
  }
  if (warnings.length > 0) head["Warning"] = warnings.map(warningHeader);
  respond(output, code, head);
  if (!output.writableEnded) endWith(output, body, bytes);
}

/** Little enough that Node does not stop reading the connection while it is on its way. */
const tailBytes = 16 * 1024;

/**
 * Over HTTP/1.1 the last piece goes out alone. While much of an answer is on its way Node pauses its parser; a client that has
 * the whole answer already may send the next request by then, and one with a large body would break the connection.
 */
function endWith(output: Output, body: Answer["body"], length: number): void {
  if (!("writeHead" in output) || length <= 2 * tailBytes) {
    // A byte for each character: it is all ASCII, and need not be looked at again to become bytes.
    if (typeof body === "string" && body.length === length) output.end(body, "latin1");
    // Of a string Node makes one with the headers, whose bytes would be encoded again.
    else output.end(typeof body === "string" ? Buffer.from(body) : body);
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const tailAt = bytes.length - tailBytes;
  output.write(bytes.subarray(0, tailAt), () => output.end(bytes.subarray(tailAt)));
}
