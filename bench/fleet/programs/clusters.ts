#!/usr/bin/env node
// Several embedded API servers in one process, until it is told to end. It says their addresses, as one line of JSON.

import { once } from "node:events";
import { startTestServer } from "@keelson/apiserver/testing";

const stop = new AbortController();
await using servers = new AsyncDisposableStack();
const urls: string[] = [];
for (let count = Number(process.argv[2] ?? 1); count > 0; count -= 1) {
  urls.push(servers.use(await startTestServer({}, stop.signal)).url);
}
process.stdout.write(`${JSON.stringify(urls)}\n`);
// The end of whoever started us is the end of our input.
await Promise.race([once(process, "SIGTERM"), once(process.stdin.resume(), "end")]);
