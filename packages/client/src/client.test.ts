import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";

import { seededRandom, type Clock } from "@keelson/base";
import { ManualClock, RecordingMetrics } from "@keelson/base/testing";

import { Client, type ClientOptions } from "./client.ts";
import { fixedCredentials, type Credentials } from "./credentials.ts";
import { hasReason, isNotFound } from "./errors.ts";

suite("Client", () => {
  test("waits as long as the server asks, then sends a write again", async (t) => {
    const clock = new ManualClock();
    await using server = await serve((_, response, count) => {
      if (count > 2) return answer(response, 201, { metadata: {} });
      response.setHeader("retry-after", "3");
      return answer(response, 429, {});
    });
    await using client = server.client({ clock });
    const call = client.call({ method: "POST", path: "/x", body: "{}" }, t.signal);
    await untilWaiting(clock);
    await clock.advance(2_900);
    assert.equal(server.requests.length, 1);
    await clock.advance(200);
    await untilWaiting(clock);
    await clock.advance(3_300);
    assert.equal((await call).status, 201);
    assert.equal(server.requests.length, 3);
  });

  test("does not repeat a write that may have happened, and repeats a read", async (t) => {
    await using server = await serve((request, response, count) => {
      if (count < 3) request.socket.destroy();
      else answer(response, 200, { metadata: {} });
    });
    await using client = server.client({});
    await assert.rejects(client.call({ method: "PATCH", path: "/x", body: "{}" }, t.signal), {
      code: "CONNECTION_FAILED",
      maybeSent: true,
    });
    assert.equal((await client.call({ method: "GET", path: "/x" }, t.signal)).status, 200);
    assert.equal(server.requests.length, 3);
  });

  test("asks for other credentials once after a 401", async (t) => {
    await using server = await serve((request, response) => {
      const isGood = request.headers.authorization === "Bearer new";
      answer(response, isGood ? 200 : 401, { metadata: {} });
    });
    let token = "old";
    const credentials: Credentials = {
      current: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
      renew: () => (token = "new"),
    };
    await using client = server.client({ access: { server: server.url, credentials } });
    assert.equal((await client.call({ method: "POST", path: "/x" }, t.signal)).status, 200);
    token = "worse";
    credentials.renew = () => undefined;
    await assert.rejects(client.call({ method: "POST", path: "/x" }, t.signal), (error) =>
      hasReason(error, "Unauthorized"),
    );
    assert.equal(server.requests.length, 4);
  });

  test("ends what is under way when it is disposed of", async (t) => {
    await using server = await serve(() => undefined);
    const client = server.client({});
    const call = client.call({ method: "PATCH", path: "/slow", body: "{}" }, t.signal);
    const failed = assert.rejects(call, { code: "CONNECTION_FAILED", maybeSent: true });
    await untilCount(server, 1);
    await client[Symbol.asyncDispose]();
    await failed;
  });

  test("cuts what is still under way on connections that were replaced for a minute", async (t) => {
    const clock = new ManualClock();
    await using server = await serve((request, response) => {
      if (request.url !== "/slow") answer(response, 200, { metadata: {} });
    });
    await using client = server.client({ clock });
    const slow = client.call(
      { method: "PATCH", path: "/slow", body: "{}", timeoutMs: 3_600_000 },
      t.signal,
    );
    const failed = assert.rejects(slow, { code: "CONNECTION_FAILED" });
    await untilCount(server, 1);
    await clock.advance(5_000);
    client.transport.renewConnections("deadline");
    assert.equal((await client.call({ method: "GET", path: "/x" }, t.signal)).status, 200);
    await clock.advance(60_000);
    await failed;
  });

  test("ends a call at its deadline and says so, and on abort with the reason", async (t) => {
    const clock = new ManualClock();
    await using server = await serve(() => undefined);
    await using client = server.client({ clock });
    const slow = client.call({ method: "GET", path: "/slow", timeoutMs: 700 }, t.signal);
    const late = assert.rejects(slow, { code: "DEADLINE_EXCEEDED", message: /GET \/slow/ });
    await untilCount(server, 1);
    await clock.advance(700);
    await late;
    const stop = new AbortController();
    const cancelled = client.call({ method: "GET", path: "/slow" }, stop.signal);
    await untilCount(server, 2);
    stop.abort(new Error("enough"));
    await assert.rejects(cancelled, { message: "enough" });
    assert.equal(clock.pending, 0, "no timer is left behind");
  });

  test("tells the last refusal when the time is up between two tries", async (t) => {
    const clock = new ManualClock();
    await using server = await serve((_, response) => {
      response.setHeader("retry-after", "30");
      answer(response, 503, {});
    });
    await using client = server.client({ clock });
    const call = client.call({ method: "GET", path: "/x", timeoutMs: 1_000 }, t.signal);
    const rejected = assert.rejects(call, (error) => hasReason(error, "ServiceUnavailable"));
    await untilWaiting(clock);
    await clock.advance(1_000);
    await rejected;
  });

  test("reads discovery once where there is no /api, and again after a kind was not found", async (t) => {
    const item = { resource: "widgets", responseKind: { kind: "Widget" }, scope: "Namespaced" };
    const versions = [{ version: "v1", resources: [{ ...item, verbs: ["list"] }] }];
    const groups = {
      kind: "APIGroupDiscoveryList",
      items: [{ metadata: { name: "example.com" }, versions }],
    };
    await using server = await serve((request, response) => {
      if (request.url === "/apis") return answer(response, 200, groups);
      return answer(response, 404, { kind: "Status", reason: "NotFound", code: 404 });
    });
    await using client = server.client({});
    const widgets = { apiVersion: "example.com/v1", kind: "Widget" };
    for (let asked = 0; asked < 3; asked += 1) await client.resource(widgets, t.signal);
    assert.equal(server.requests.length, 2);
    const found = await client.resource(widgets, t.signal);
    await assert.rejects(found.list({}, t.signal), isNotFound);
    await client.resource(widgets, t.signal);
    assert.equal(server.requests.length, 2 + 1 + 2);
  });

  test("counts what became of requests, by method", async (t) => {
    const metrics = new RecordingMetrics();
    await using server = await serve((request, response) =>
      answer(response, request.url === "/there" ? 200 : 404, { metadata: {} }),
    );
    await using client = server.client({ metrics });
    await client.call({ method: "GET", path: "/there" }, t.signal);
    await assert.rejects(client.call({ method: "GET", path: "/nowhere" }, t.signal), isNotFound);
    const count = (outcome: string): number | undefined =>
      metrics.value("keelson_client_requests_total", { method: "GET", outcome });
    assert.deepEqual([count("success"), count("error")], [1, 1]);
  });

  test("counts those who wait for their turn, and nobody once they have had it", async (t) => {
    const clock = new ManualClock();
    const metrics = new RecordingMetrics();
    const waiting = (): number | undefined => metrics.value("keelson_client_requests_waiting");
    await using server = await serve((_, response) => answer(response, 200, { metadata: {} }));
    const rateLimit = { perSecond: 1, burst: 1 };
    await using client = server.client({ clock, metrics, rateLimit });
    await using other = server.client({ clock, metrics, rateLimit });
    assert.equal(waiting(), 0);
    const stop = new AbortController();
    const calls = [client, client, other, other].map((one) =>
      one.call({ method: "GET", path: "/" }, t.signal),
    );
    const left = other.call({ method: "GET", path: "/" }, stop.signal);
    await clock.settle();
    assert.equal(waiting(), 3);
    stop.abort(new Error("enough"));
    await assert.rejects(left, { message: "enough" });
    await clock.advance(1_000);
    await Promise.all(calls);
    assert.equal(waiting(), 0);
  });

  test("asks at every try, and sends nothing that is not allowed", async (t) => {
    await using server = await serve((_, response, count) => {
      if (count === 1) response.setHeader("retry-after", "0");
      answer(response, count === 1 ? 429 : 200, { metadata: {} });
    });
    const seen: string[] = [];
    await using client = server.client({
      onRequest: ({ method, path, when }) => {
        seen.push(`${when} ${method} ${path}`);
        if (path === "/forbidden") throw new Error("not any more");
      },
    });
    await client.call({ method: "POST", path: "/x?a=b", body: "{}" }, t.signal);
    const tried = ["before POST /x", "after POST /x"];
    assert.deepEqual(seen, [...tried, ...tried]);
    const refused = { message: "not any more" };
    await assert.rejects(client.call({ method: "GET", path: "/forbidden" }, t.signal), refused);
    const watch = { method: "GET", path: "/forbidden", openTimeoutMs: 1_000 } as const;
    await assert.rejects(client.open(watch, t.signal), refused);
    assert.equal(server.requests.length, 2);
  });

  test("asks once more when a request is written, however long its connection took", async (t) => {
    await using server = await serve((_, response) => answer(response, 200, { metadata: {} }));
    const seen: string[] = [];
    let mayWrite = false;
    await using client = server.client({
      onRequest: ({ when }) => void seen.push(when),
      onWrite: ({ method, path }) => {
        seen.push(`${method} ${path}`);
        if (!mayWrite) throw new Error("not any more");
      },
    });
    const post = { method: "POST", path: "/x?a=b", body: "{}" } as const;
    await assert.rejects(client.call(post, t.signal), { message: "not any more" });
    const watch = { method: "GET", path: "/w", openTimeoutMs: 60_000 } as const;
    await assert.rejects(client.open(watch, t.signal), { message: "not any more" });
    assert.equal(server.requests.length, 0);
    mayWrite = true;
    for (let times = 0; times < 2; times++) {
      assert.deepEqual((await client.call(post, t.signal)).body, { metadata: {} });
    }
    const sent = ["before", "POST /x", "after"];
    assert.deepEqual(seen, ["before", "POST /x", "before", "GET /w", ...sent, ...sent]);
  });

  test("without a rate limit nobody waits", async (t) => {
    const clock = new ManualClock(); // Which stands still: with a limit 401 calls would wait for it.
    await using server = await serve((_, response) => answer(response, 200, { metadata: {} }));
    await using client = server.client({ clock, rateLimit: "none" });
    const calls = Array.from({ length: 450 }, () =>
      client.call({ method: "GET", path: "/" }, t.signal),
    );
    assert.equal((await Promise.all(calls)).length, 450);
  });

  test("reads warnings in UTF-8, and keeps numbers that JavaScript cannot hold", async (t) => {
    // Node sends each character of a header as a byte.
    const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
    await using server = await serve((_, response) => {
      response.setHeader("warning", [
        '299 - "unknown field \\"spec.x\\""',
        `299 - "${latin1("é")}"`,
      ]);
      response.setHeader("content-type", "application/json");
      response.end(Buffer.from('{"big":9007199254740993}'));
    });
    await using client = server.client({});
    const { warnings, body } = await client.call({ method: "GET", path: "/" }, t.signal);
    assert.deepEqual(
      [warnings, body],
      [['unknown field "spec.x"', "é"], { big: 9007199254740993n }],
    );
  });

  test("reads answers that are deeper than anything a server takes", async (t) => {
    let list: object = {};
    for (let level = 0; level < 300; level++) list = { items: [list] };
    await using server = await serve((_, response) => answer(response, 200, list));
    await using client = server.client({});
    const { body } = await client.call({ method: "GET", path: "/" }, t.signal);
    assert.deepEqual(body, list);
  });
});

interface Served extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly string[];
  client(options: Partial<ClientOptions> & { clock?: Clock }): Client;
}

async function serve(
  respond: (request: IncomingMessage, response: ServerResponse, count: number) => void,
): Promise<Served> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    respond(request, response, requests.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    client: (options) =>
      new Client({
        access: { server: url, credentials: fixedCredentials({}) },
        random: seededRandom("client"),
        ...options,
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function untilCount({ requests }: Served, count: number): Promise<void> {
  while (requests.length < count) await new Promise((resolve) => setImmediate(resolve));
}

/** Until the client has its answer and waits for another try: a timer beside that of the deadline. */
async function untilWaiting(clock: ManualClock): Promise<void> {
  while (clock.pending < 2) await new Promise((resolve) => setImmediate(resolve));
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}
