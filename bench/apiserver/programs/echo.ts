#!/usr/bin/env node
// A server that does nothing but HTTPS: what it reads it answers, 1 KB if it reads nothing. The ceiling of any server in Node.
// node echo.ts CERTIFICATE KEY CLIENT_AUTHORITY; prints its port.

import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

const [certificate = "", key = "", authority = ""] = process.argv.slice(2);
const kilobyte = Buffer.alloc(1024, "x");
const server = createServer(
  {
    cert: readFileSync(certificate),
    key: readFileSync(key),
    ca: readFileSync(authority),
    requestCert: true,
    rejectUnauthorized: true,
  },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = chunks.length === 0 ? kilobyte : Buffer.concat(chunks);
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": body.byteLength,
      });
      response.end(body);
    });
  },
);
server.listen({ host: "127.0.0.1", port: 0 }, () =>
  console.log((server.address() as AddressInfo).port),
);
