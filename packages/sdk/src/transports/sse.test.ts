import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { until } from "@keelson/base/testing";
import type { RawEvent } from "../event.ts";
import type { Disposition, TransportContext } from "../transport.ts";
import { readFrames } from "./sse-lines.ts";
import { sse } from "./sse.ts";

const never = new AbortController().signal;

/** A log of events, served as the API does. */
class EventServer implements AsyncDisposable {
  readonly asked: { readonly url: string; readonly lastEventId: string | undefined }[] = [];
  readonly #log: string[] = [];
  readonly #open = new Set<ServerResponse>();
  #purged = 0;
  refuseWith: number | undefined;

  readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(): Promise<EventServer> {
    const server = createServer();
    const it = new EventServer(server);
    server.on("request", (request, response) => it.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return it;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/api/v1`;
  }

  publish(data: string): void {
    this.#log.push(data);
    for (const response of this.#open) response.write(this.#frame(this.#log.length));
  }

  /** Cuts every stream, as a proxy that restarts. */
  cut(): void {
    for (const response of this.#open) response.destroy();
    this.#open.clear();
  }

  purge(): void {
    this.#purged = this.#log.length;
  }

  get streams(): number {
    return this.#open.size;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const lastEventId = request.headers["last-event-id"] as string | undefined;
    this.asked.push({ url: request.url ?? "", lastEventId });
    if (this.refuseWith !== undefined) {
      response.writeHead(this.refuseWith).end("{}");
      return;
    }
    const from = lastEventId === undefined ? this.#log.length : Number(lastEventId);
    if (from < this.#purged) {
      response.writeHead(410).end("{}");
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`id: ${from}\nevent: ready\ndata: {}\n\n: a comment\n\n`);
    for (let position = from + 1; position <= this.#log.length; position++) {
      response.write(this.#frame(position));
    }
    this.#open.add(response);
    response.on("close", () => this.#open.delete(response));
  }

  #frame(position: number): string {
    return `id: ${position}\nevent: cluster.updated\ndata: ${this.#log[position - 1]}\n\n`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

interface Heard {
  readonly context: TransportContext;
  readonly data: string[];
  gaps: number;
}

function listener(
  server: EventServer,
  deliver: (event: RawEvent) => Promise<Disposition> = async () => ({ kind: "ack" }),
): Heard {
  const data: string[] = [];
  const it: Heard = {
    data,
    gaps: 0,
    context: {
      controllerName: "dns",
      kinds: ["cluster"],
      platforms: ["GCP"],
      api: { url: server.url, headers: { "x-user-email": "dns@example.com" } },
      fetch,
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      deliver: async (event) => {
        const disposition = await deliver(event);
        if (disposition.kind === "ack") data.push(event.data);
        return disposition;
      },
      onGap: () => void it.gaps++,
    },
  };
  return it;
}

const quick = { retryMs: { initial: 2, max: 10 } };

suite("sse()", () => {
  test("it is subscribed once the server is ready, and goes on where it was after a break", async () => {
    await using server = await EventServer.start();
    const heard = listener(server);
    const subscription = await sse(quick).subscribe(heard.context, never);
    server.publish("1");
    server.publish("2");
    await until(() => heard.data.length === 2);
    server.cut();
    server.publish("3");
    await until(() => server.streams === 1);
    server.publish("4");
    await until(() => heard.data.length === 4);
    await subscription.close();
    assert.deepEqual(heard.data, ["1", "2", "3", "4"]);
    assert.equal(heard.gaps, 0);
    assert.deepEqual(
      server.asked.map(({ url, lastEventId }) => [url, lastEventId]),
      [
        ["/api/v1/events?topic=cluster-events&platform=gcp", undefined],
        ["/api/v1/events?topic=cluster-events&platform=gcp", "2"],
      ],
    );
  });

  test("a place that is gone means listing again, after the new stream stands", async () => {
    await using server = await EventServer.start();
    const heard = listener(server);
    const subscription = await sse(quick).subscribe(heard.context, never);
    server.publish("1");
    await until(() => heard.data.length === 1);
    server.refuseWith = 503;
    const asked = server.asked.length;
    server.cut();
    await until(() => server.asked.length > asked);
    server.publish("lost");
    server.purge();
    server.refuseWith = undefined;
    await until(() => heard.gaps === 1);
    server.publish("2");
    await until(() => heard.data.length === 2);
    await subscription.close();
    assert.deepEqual(heard.data, ["1", "2"]);
  });

  test("a stream that falls silent is opened again", async () => {
    await using server = await EventServer.start();
    const heard = listener(server);
    const subscription = await sse({ ...quick, silenceMs: 50 }).subscribe(heard.context, never);
    await until(() => server.asked.length >= 3);
    server.publish("1");
    await until(() => heard.data.length === 1);
    await subscription.close();
  });

  test("what is not acknowledged comes again, and keeps the others going", async () => {
    await using server = await EventServer.start();
    let refusals = 3;
    const heard = listener(server, async ({ data }) =>
      data === "1" && refusals-- > 0 ? { kind: "nack", afterMs: 5 } : { kind: "ack" },
    );
    const subscription = await sse(quick).subscribe(heard.context, never);
    server.publish("1");
    server.publish("2");
    await until(() => heard.data.length === 2);
    await subscription.close();
    assert.deepEqual(heard.data, ["2", "1"]);
  });

  test("any number that wait to come again keep nobody from being heard", async () => {
    await using server = await EventServer.start();
    const heard = listener(server, async ({ data }) =>
      data === "last" ? { kind: "ack" } : { kind: "nack", afterMs: 3_600_000 },
    );
    const stop = new AbortController();
    const subscription = await sse(quick).subscribe(heard.context, stop.signal);
    for (let event = 0; event < 600; event++) server.publish(String(event));
    server.publish("last");
    await until(() => heard.data.length === 1);
    stop.abort();
    await subscription.close();
    assert.deepEqual(heard.data, ["last"]);
  });

  test("a server that refuses us at the start says so", async () => {
    await using server = await EventServer.start();
    server.refuseWith = 403;
    await assert.rejects(sse(quick).subscribe(listener(server).context, never), /403/);
  });

  test("frames may be cut anywhere, and end in any way that lines end", async () => {
    const text =
      "id: 1\r\nevent: a\r\ndata: ü1\r\n\r\n: hush\n\ndata:x\ndata:y\n\nid: 7\n\rdata: cut off";
    const expected = [
      { id: "1", event: "a", data: "ü1" },
      { event: "message", data: "x\ny" },
      { id: "7", event: "message", data: "" },
    ];
    const endless = ReadableStream.from(
      Array.from({ length: 80 }, () => new TextEncoder().encode(`data: ${"x".repeat(65_536)}\n`)),
    );
    await assert.rejects(async () => {
      for await (const frame of readFrames(endless)) assert.fail(frame.event);
    }, /too long/);
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size < bytes.length; size++) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const frames = [];
      for await (const frame of readFrames(ReadableStream.from(pieces))) frames.push(frame);
      assert.deepEqual(frames, expected, `in pieces of ${size} bytes`);
    }
  });
});
