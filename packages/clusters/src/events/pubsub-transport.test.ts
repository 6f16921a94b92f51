import assert from "node:assert/strict";
import { once } from "node:events";
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
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

  test("where we may only publish, topics are somebody else's to make, and a missing one is told of as missing", async (t) => {
    const asked: string[] = [];
    let isThere = true;
    const server = createServer();
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const method = String(headers[":path"]).split("/").at(-1) ?? "";
      asked.push(method);
      const refusal = method === "CreateTopic" ? "7" : isThere ? undefined : "5";
      const grpc = { ":status": 200, "content-type": "application/grpc" };
      if (refusal !== undefined) {
        const message = refusal === "7" ? "not authorized" : "no such topic";
        const said = { ...grpc, "grpc-status": refusal, "grpc-message": message };
        stream.respond(said, { endStream: true });
        return;
      }
      stream.respond(grpc, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.alloc(5)); // A message without a member.
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    await using transport = new PubsubTransport({
      projectId: "least",
      emulatorHost: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      topics: { "cluster-events": "cluster-events", "nodepool-events": "nodepool-events" },
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    });
    await transport.prepare(t.signal);
    assert.deepEqual(transport.health, { transport: "pubsub", status: "ok" });
    const event = {
      position: 1,
      eventId: systemRandom.uuid(),
      topic: "cluster-events",
      orderingKey: "k",
      data: {},
      attributes: {},
      createdAt: new Date(0),
    };
    await transport.publish([event], t.signal);
    assert.deepEqual(asked, ["CreateTopic", "CreateTopic", "Publish"]);
    isThere = false;
    await assert.rejects(transport.publish([event], t.signal), /no such topic/);
    assert.match(transport.health.error ?? "", /no such topic/);
    server.close();
  });
});
