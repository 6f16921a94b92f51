// A thread that sends one request after the other on each of its connections, and ends when all are answered.

import { once } from "node:events";
import { connect } from "node:net";
import { workerData } from "node:worker_threads";

const { url, requests, connections, body, headers } = workerData as {
  readonly url: string;
  readonly requests: number;
  readonly connections: number;
  readonly body: string;
  readonly headers: readonly string[];
};
const { port } = new URL(url);
const head = [
  "POST /api/v1/echo HTTP/1.1",
  `Host: localhost:${port}`,
  ...headers,
  "Content-Type: application/json",
  `Content-Length: ${Buffer.byteLength(body)}`,
];
const request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);

let sent = 0;
async function one(): Promise<void> {
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  socket.setNoDelay(true);
  const finished = once(socket, "close");
  socket.on("data", (chunk: Buffer) => {
    // An answer is small and comes in one piece: its head, then the body that was sent.
    if (!chunk.toString("latin1").startsWith("HTTP/1.1 200")) throw new Error(chunk.toString());
    if (sent >= requests) socket.destroy();
    else {
      sent++;
      socket.write(request);
    }
  });
  sent++;
  socket.write(request);
  await finished;
}

await Promise.all(Array.from({ length: connections }, one));
