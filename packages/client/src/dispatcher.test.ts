import { once } from "node:events";
import { connect, createServer } from "node:http2";
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
});
