import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, constants, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";

import { dispatcherOf } from "./dispatcher.ts";

suite("connections", () => {
  test("a stream that nobody listens to any more ends alone, and not the process", async () => {
    await dispatcherOf({ tls: {}, proxyUrl: undefined, connectTimeoutMs: 1_000 }).destroy();
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const stream = session.request({ ":path": "/" });
    stream.destroy(new Error("the client is destroyed"));
    // Its error comes first: unheard, it would have failed the test. (`once` would listen to it.)
    await new Promise<void>((resolve) => void stream.once("close", resolve));
    session.destroy();
    server.close();
    await once(server, "close");
  });

  test("a request that is given up is told to the server, though its body is not out", async (t) => {
    const dispatcher = dispatcherOf({ tls: {}, proxyUrl: undefined, connectTimeoutMs: 1_000 });
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    t.after(async () => {
      session.destroy();
      server.close();
      await dispatcher.destroy();
    });
    const stream = session.request({ ":path": "/", ":method": "PATCH" });
    stream.end("a body");
    stream.close(); // As undici does it.
    assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL);
  });
});
