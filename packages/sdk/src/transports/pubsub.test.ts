import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { until } from "@keelson/base/testing";
import type { TransportContext } from "../transport.ts";
import { pubsub } from "./pubsub.ts";

const never = new AbortController().signal;

/** Pub/Sub before somebody who may not look at a subscription, and may consume it if that is said. */
class GuardedPubsub implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server = createServer();

  static async start(rights: readonly string[]): Promise<GuardedPubsub> {
    const it = new GuardedPubsub();
    it.#server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const method = String(headers[":path"]).split("/").at(-1) ?? "";
      if (!it.asked.includes(method)) it.asked.push(method);
      stream.on("error", () => undefined);
      it.#answer(stream, method, rights);
    });
    it.#server.listen(0, "127.0.0.1");
    await once(it.#server, "listening");
    return it;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #answer(stream: ServerHttp2Stream, method: string, rights: readonly string[]): void {
    const head = { ":status": 200, "content-type": "application/grpc" };
    if (method === "GetSubscription") {
      const said = { "grpc-status": "7", "grpc-message": "not authorized" };
      stream.respond({ ...head, ...said }, { endStream: true });
      return;
    }
    stream.respond(head, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    if (method === "StreamingPull") {
      const message = Buffer.concat([member(1, "heard"), member(3, "m")]);
      stream.write(frame(member(1, Buffer.concat([member(1, "ack"), member(2, message)]))));
      return; // It goes on.
    }
    const isRights = method === "TestIamPermissions";
    stream.end(frame(...(isRights ? rights.map((right) => member(1, right)) : [])));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await Promise.resolve();
  }
}

/** A member of a message in protobuf: a text, or another message. */
function member(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

function frame(...members: readonly Buffer[]): Buffer {
  const body = Buffer.concat(members);
  return Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body]);
}

function listener(heard: string[]): TransportContext {
  return {
    controllerName: "dns",
    kinds: ["cluster"],
    platforms: [],
    api: { url: "http://127.0.0.1:1", headers: {} },
    fetch,
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    deliver: async ({ data }) => {
      heard.push(data);
      return { kind: "ack" };
    },
    onGap: () => undefined,
  };
}

suite("pubsub()", () => {
  test("a subscription that one may consume, and not look at, is used as it is", async () => {
    await using server = await GuardedPubsub.start(["pubsub.subscriptions.consume"]);
    const heard: string[] = [];
    const transport = pubsub({ subscription: "dns", projectId: "p", emulatorHost: server.host });
    const subscription = await transport.subscribe(listener(heard), never);
    await until(() => heard.length > 0);
    await subscription.close();
    assert.deepEqual(server.asked.slice(0, 3), [
      "GetSubscription",
      "TestIamPermissions",
      "StreamingPull",
    ]);
    assert.equal(heard[0], "heard");
  });

  test("who gives up while nobody answers does not wait for the library", async () => {
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, "stream");
    const transport = pubsub({
      subscription: "dns",
      projectId: "p",
      emulatorHost: `127.0.0.1:${port}`,
    });
    const patience = new AbortController();
    const subscribing = transport.subscribe(listener([]), patience.signal);
    await asked;
    patience.abort(new Error("nobody waits any longer"));
    await assert.rejects(subscribing, /nobody waits any longer/);
    silent.close();
  });

  test("one that one may neither look at nor consume cannot be had", async () => {
    await using server = await GuardedPubsub.start([]);
    const transport = pubsub({ subscription: "dns", projectId: "p", emulatorHost: server.host });
    await assert.rejects(transport.subscribe(listener([]), never), /not authorized/);
  });
});
