import assert from "node:assert/strict";
import { once } from "node:events";
import { constants, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";

import { silentLog, systemClock, systemRandom } from "@keelson/base";

import { PubsubTransport } from "./pubsub-transport.ts";

suite("events to Pub/Sub", () => {
  test("a request that nobody answers is taken back when we stop, not when its time is up", async (t) => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    await using transport = new PubsubTransport({
      projectId: "silent",
      emulatorHost: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      topics: { "cluster-events": "cluster-events", "nodepool-events": "nodepool-events" },
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      requestTimeoutMs: 3_600_000,
    });
    const stopping = new AbortController();
    const requested = once(server, "stream", { signal: t.signal });
    const prepared = transport.prepare(stopping.signal);
    const [stream] = (await requested) as [ServerHttp2Stream];
    const closed = once(stream, "close", { signal: t.signal });
    stopping.abort();
    await prepared;
    await closed;
    assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL);
    server.close();
  });
});
