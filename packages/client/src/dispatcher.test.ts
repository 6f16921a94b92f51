import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { connect, constants, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";

import { Agent, request } from "undici";

import { askingAtWrite, dispatcherOf, Unwritten } from "./dispatcher.ts";

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

  for (const [protocol, listen, options] of [
    ["HTTP/1.1", (answer: RequestListener) => createHttpServer(answer), {}],
    ["HTTP/2", (answer: RequestListener) => createServer(answer as never), { useH2c: true }],
  ] as const) {
    test(`a request that may not be written leaves its connection to others, ${protocol}`, async (t) => {
      const heard: string[] = [];
      const server = listen(({ url = "" }, response) => {
        heard.push(url);
        response.end("answer");
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      let connections = 0;
      server.on("connection", () => connections++);
      const agent = new Agent({ connections: 1, ...options });
      t.after(async () => {
        await agent.destroy();
        server.close();
      });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const asking = askingAtWrite(agent, () => {
        throw new Error("not any more");
      });
      const [refused, answered] = await Promise.allSettled([
        request(`${url}/refused`, { dispatcher: asking, method: "PATCH", body: "{}" }),
        request(`${url}/answered`, { dispatcher: askingAtWrite(agent, () => undefined) }),
      ]);
      assert.ok(refused.status === "rejected" && refused.reason instanceof Unwritten);
      assert.equal((refused.reason.cause as Error).message, "not any more");
      assert.ok(answered.status === "fulfilled");
      assert.equal(await answered.value.body.text(), "answer");
      assert.deepEqual([heard, connections], [["/answered"], 1]);
    });
  }
});
