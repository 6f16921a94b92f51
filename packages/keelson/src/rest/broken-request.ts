import type { Socket } from "node:net";
import { RestError, toRestReply, writeJson } from "@keelson/base";

/** Answers what is no HTTP at all, on the bare socket, and ends the connection. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const message = brokenRequests[error.code ?? ""] ?? "the request is not valid HTTP";
  const { status, body } = toRestReply(new RestError("VALIDATION_FAILED", message));
  const text = writeJson(body);
  const head = [
    `HTTP/1.1 ${status} Bad Request`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Cache-Control: no-store",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}

const brokenRequests: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "the request did not arrive in time",
  HPE_HEADER_OVERFLOW: "the headers are too large",
};
