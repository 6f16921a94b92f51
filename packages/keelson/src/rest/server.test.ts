import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { suite, test } from "node:test";
import { text } from "node:stream/consumers";
import { restErrorStatus, RestError, type RestErrorCode } from "@keelson/base";
import { RecordingLog, RecordingMetrics } from "@keelson/base/testing";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import {
  batchBodyBytesMax,
  bodyBytesMax,
  restFixture,
  secretText,
  showingRoutes,
} from "../testing/rest-fixture.ts";
import type { RouteModule } from "./route-module.ts";
import type { RestServer } from "./server.ts";

const json = { "content-type": "application/json" };

function inject(rest: RestServer, options: InjectOptions): Promise<LightMyRequestResponse> {
  const headers = { host: "localhost", ...options.headers };
  return rest.app.inject({ ...options, headers });
}

/** What every error must have, whatever went wrong. */
function assertErrorShape(reply: LightMyRequestResponse, code: RestErrorCode, place = ""): void {
  const body = reply.json<Record<string, unknown>>();
  assert.deepEqual(Object.keys(body), ["error", "code", "details"], place);
  assert.deepEqual([body["code"], reply.statusCode], [code, restErrorStatus[code]], place);
  assert.equal(typeof body["error"], "string", place);
  assert.match(String(reply.headers["content-type"]), /^application\/json/, place);
  assert.match(String(reply.headers["x-request-id"]), /^[\x21-\x7e]+$/, place);
  assert.equal(reply.headers["cache-control"], "no-store", place);
  for (const leak of ["FST_", "fastify", "SyntaxError", secretText]) {
    assert.ok(!reply.body.includes(leak), `${place}: ${reply.body}`);
  }
}

suite("the error shape", () => {
  test("is that of every code, thrown by a route", async () => {
    await using rest = await restFixture();
    for (const code of Object.keys(restErrorStatus) as RestErrorCode[]) {
      const reply = await inject(rest, { url: `/api/v1/errors/${code}` });
      assertErrorShape(reply, code, code);
    }
  });

  test("of a crash says nothing of its cause, which is logged", async () => {
    const log = new RecordingLog();
    await using rest = await restFixture({ log });
    const reply = await inject(rest, { url: "/api/v1/errors/crash" });
    assertErrorShape(reply, "INTERNAL_ERROR");
    assert.equal(reply.json<{ error: string }>().error, "internal error");
    const [line, ...others] = log.entries.filter(({ level }) => level === "error");
    assert.equal(others.length, 0);
    assert.equal(line?.message, "request failed");
    const { user, path } = line.fields;
    assert.deepEqual([user, path], ["controller@system.local", "/api/v1/errors/crash"]);
    assert.match(String(line?.fields["error"]), /hunter2/);
  });

  test("takes what parts translate", async () => {
    const translate = (error: unknown): RestError | undefined =>
      error instanceof TypeError ? new RestError("DATABASE_UNAVAILABLE", "later") : undefined;
    await using rest = await restFixture({ translate });
    const reply = await inject(rest, { url: "/api/v1/errors/crash" });
    assertErrorShape(reply, "DATABASE_UNAVAILABLE");
    assert.equal(reply.headers["retry-after"], "5");
  });

  const post = (
    payload: string | Buffer,
    headers: Record<string, string> = json,
  ): InjectOptions => ({
    method: "POST",
    url: "/api/v1/typed",
    payload,
    headers,
  });
  const refused: readonly (readonly [string, InjectOptions, RestErrorCode, RegExp])[] = [
    ["an unknown route", { url: "/nothing" }, "RESOURCE_NOT_FOUND", /no such route/],
    ["an unknown route below the API", { url: "/api/v1/nothing" }, "RESOURCE_NOT_FOUND", /no such/],
    [
      "a parameter of 2,000 characters",
      { method: "PUT", url: `/api/v1/echo/${"a".repeat(2_000)}` },
      "RESOURCE_NOT_FOUND",
      /no such/,
    ],
    ["a wrong method", { method: "DELETE", url: "/api/v1/echo" }, "METHOD_NOT_ALLOWED", /DELETE/],
    [
      "an unknown method",
      { method: "PROPFIND", url: "/api/v1/echo" },
      "METHOD_NOT_ALLOWED",
      /PROPFIND/,
    ],
    ["a path that is no URL", { url: "/api/v1/errors/%zz" }, "VALIDATION_FAILED", /path/],
    ["a path with NUL", { url: "/api/v1/errors/a%00b" }, "VALIDATION_FAILED", /NUL/],
    ["no media type", post("{}", {}), "UNSUPPORTED_MEDIA_TYPE", /application\/json/],
    [
      "another media type",
      post("a=b", { "content-type": "application/x-www-form-urlencoded" }),
      "UNSUPPORTED_MEDIA_TYPE",
      /application\/json/,
    ],
    [
      "text, which needs no preflight",
      post("{}", { "content-type": "text/plain" }),
      "UNSUPPORTED_MEDIA_TYPE",
      /application\/json/,
    ],
    [
      "a media type that is none",
      post("{}", { "content-type": "json" }),
      "UNSUPPORTED_MEDIA_TYPE",
      /application\/json/,
    ],
    ["malformed JSON", post("{"), "VALIDATION_FAILED", /not valid JSON.*line 1/],
    ["half a JSON", post('{"name":'), "VALIDATION_FAILED", /not valid JSON/],
    ["no body where one is needed", post(""), "VALIDATION_FAILED", /body: must be an object/],
    ["a list instead of an object", post("[]"), "VALIDATION_FAILED", /body: must be an object/],
    ["a key said twice", post('{"name":"a","name":"b","count":1}'), "VALIDATION_FAILED", /name/],
    [
      "bytes that are not UTF-8",
      post(Buffer.from([0x22, 0xff, 0x22])),
      "VALIDATION_FAILED",
      /UTF-8/,
    ],
    ["a missing field", post('{"name":"a"}'), "VALIDATION_FAILED", /^count: is required$/],
    [
      "an unknown field",
      post('{"name":"a","count":1,"extra":1}'),
      "VALIDATION_FAILED",
      /^extra: is not a known field$/,
    ],
    [
      "a mistyped field, not coerced",
      post('{"name":"a","count":"1"}'),
      "VALIDATION_FAILED",
      /^count: must be a whole number$/,
    ],
    [
      "a number beyond all",
      post('{"name":"a","count":1e400}'),
      "VALIDATION_FAILED",
      /^count: must be a whole number$/,
    ],
    [
      "an empty text",
      post('{"name":"","count":1}'),
      "VALIDATION_FAILED",
      /^name: must not be empty$/,
    ],
    [
      "a word of no set",
      post('{"name":"a","count":1,"kind":"three"}'),
      "VALIDATION_FAILED",
      /^kind: must be one of one, two$/,
    ],
    [
      "a field inside a list",
      post('{"name":"a","count":1,"items":[{"id":"x"},{"id":7}]}'),
      "VALIDATION_FAILED",
      /^items\[1\]\.id: must be a text$/,
    ],
    [
      "NUL in a text",
      post('{"name":"a","count":1,"spec":{"deep":["a\\u0000b"]}}'),
      "VALIDATION_FAILED",
      /^spec\.deep\[0\]: must not contain NUL$/,
    ],
    [
      "NUL in a key",
      post('{"name":"a","count":1,"spec":{"a\\u0000b":1}}'),
      "VALIDATION_FAILED",
      /^spec: must not contain NUL$/,
    ],
    [
      "numbers that are long when they are written out",
      post(
        '{"name":"a","count":1,"spec":{"x":[1e-500000,": 1e9999999 ",{"y":1E+500000}],"w":0.0e999999,"z":1e300000}}',
      ),
      "VALIDATION_FAILED",
      /^spec\.z: is too long when it is written out, with the numbers before it$/,
    ],
    [
      "JSON 600 deep",
      post(`{"spec":${"[".repeat(600)}${"]".repeat(600)}}`),
      "VALIDATION_FAILED",
      /deep/,
    ],
    [
      "a query that is no number",
      { url: "/api/v1/page?limit=abc" },
      "VALIDATION_FAILED",
      /^limit: must be a whole number$/,
    ],
    [
      "a query out of bounds",
      { url: "/api/v1/page?limit=101" },
      "VALIDATION_FAILED",
      /^limit: must be <= 100$/,
    ],
    [
      "an unknown query",
      { url: "/api/v1/page?limt=1" },
      "VALIDATION_FAILED",
      /^limt: is not a known field$/,
    ],
    [
      "a body beyond the family's limit",
      post(`{"name":"${"a".repeat(bodyBytesMax)}"}`),
      "PAYLOAD_TOO_LARGE",
      /too large/,
    ],
    [
      "a body beyond the route's own limit",
      { ...post(`"${"a".repeat(batchBodyBytesMax)}"`), url: "/api/v1/batch" },
      "PAYLOAD_TOO_LARGE",
      /too large/,
    ],
    [
      "a foreign host",
      { url: "/api/v1/whoami", headers: { host: "evil.com" } },
      "FORBIDDEN",
      /evil\.com/,
    ],
    [
      "a foreign host on a health route",
      { url: "/nothing", headers: { host: "evil.com" } },
      "FORBIDDEN",
      /evil\.com/,
    ],
  ];
  for (const [name, options, code, pattern] of refused) {
    test(`is that of ${name}`, async () => {
      await using rest = await restFixture();
      const reply = await inject(rest, options);
      assertErrorShape(reply, code);
      assert.match(reply.json<{ error: string }>().error, pattern);
    });
  }

  test("lists every field that is wrong", async () => {
    await using rest = await restFixture();
    const reply = await inject(rest, post('{"count":0,"items":[{}],"x":1}'));
    assert.deepEqual(reply.json<{ details: unknown }>().details, {
      fields: [
        { field: "name", message: "is required" },
        { field: "x", message: "is not a known field" },
        { field: "count", message: "must be >= 1" },
        { field: "items[0].id", message: "is required" },
      ],
    });
  });

  test("of a wrong method names the right ones", async () => {
    await using rest = await restFixture();
    for (const [url, allow] of [
      ["/api/v1/echo", "POST"],
      ["/api/v1/echo/7?x=1", "PUT"],
      ["/api/v1/whoami", "GET, HEAD"],
    ] as const) {
      const reply = await inject(rest, { method: "DELETE", url });
      assert.equal(reply.headers.allow, allow);
    }
  });

  test("is sent on the bare socket for what is no HTTP", async () => {
    await using rest = await restFixture();
    const url = new URL(await rest.listen({ address: "127.0.0.1", port: 0 }));
    for (const [request, status, pattern] of [
      ["NONSENSE\r\n\r\n", 400, /not valid HTTP/],
      [
        `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(40_000)}\r\n\r\n`,
        400,
        /headers are too large/,
      ],
      ["GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n", 403, /host \(none\)/],
    ] as const) {
      const socket = connect(Number(url.port), "127.0.0.1");
      socket.write(request);
      const answer = await text(socket);
      const [head = "", body = ""] = answer.split("\r\n\r\n");
      assert.match(head, new RegExp(`^HTTP/1.1 ${status} `));
      assert.deepEqual(Object.keys(JSON.parse(body) as object), ["error", "code", "details"]);
      assert.match(body, pattern);
    }
  });
});

suite("requests", () => {
  test("keep numbers, keys and depth of their bodies as they were sent", async () => {
    await using rest = await restFixture();
    const sent = '{"a":12345678901234567890,"b":1.0,"c":1e400,"__proto__":{"d":-0}}';
    const reply = await inject(rest, {
      method: "POST",
      url: "/api/v1/echo",
      payload: sent,
      headers: json,
    });
    assert.equal(reply.body, `{"sent":${sent}}`);
    assert.equal(reply.headers["content-type"], "application/json; charset=utf-8");
  });

  test("take charset parameters, and defaults of a query", async () => {
    await using rest = await restFixture();
    const headers = { "content-type": "application/json; charset=utf-8" };
    const payload = '{"name":"é","count":1}';
    const reply = await inject(rest, { method: "POST", url: "/api/v1/typed", payload, headers });
    assert.deepEqual(reply.json(), { sent: { name: "é", count: 1 } });
    assert.deepEqual((await inject(rest, { url: "/api/v1/page" })).json(), { limit: 50 });
    assert.deepEqual((await inject(rest, { url: "/api/v1/page?limit=7" })).json(), { limit: 7 });
  });

  test("echo a request id that is fit for a log, and get one otherwise", async () => {
    await using rest = await restFixture();
    const idOf = async (sent: string): Promise<unknown> => {
      const reply = await inject(rest, {
        url: "/api/v1/whoami",
        headers: { "x-request-id": sent },
      });
      return reply.headers["x-request-id"];
    };
    assert.equal(await idOf("abc-123"), "abc-123");
    for (const unfit of ["", "a b", "a".repeat(129), "é"]) {
      assert.match(String(await idOf(unfit)), /^[0-9a-f]{8}(-[0-9a-f]{4}){2}-[0-9a-z]+$/);
    }
  });

  test("of a browser that asks first are answered without a credential, with what may be sent and seen", async () => {
    await using rest = await restFixture();
    for (const url of ["/api/v1/whoami", "/api/v1/nothing"]) {
      const reply = await inject(rest, {
        method: "OPTIONS",
        url,
        headers: { origin: "http://localhost:5173", "access-control-request-method": "PUT" },
      });
      assert.equal(reply.statusCode, 204);
      const names = Object.entries(reply.headers).filter(([name]) =>
        name.startsWith("access-control"),
      );
      assert.deepEqual(Object.fromEntries(names), {
        "access-control-allow-origin": "http://localhost:5173",
        "access-control-expose-headers": "ETag, X-Request-ID, Retry-After, Allow",
        "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
        "access-control-allow-headers":
          "Origin, Content-Type, Accept, Authorization, If-Match, Last-Event-ID, X-Request-ID, X-User-Email, X-User-Roles, X-Organization-ID",
        "access-control-max-age": "600",
      });
      assert.equal(reply.headers["access-control-allow-credentials"], undefined);
    }
    const foreign = await inject(rest, {
      method: "OPTIONS",
      url: "/api/v1/whoami",
      headers: { origin: "https://evil.example.com", "access-control-request-method": "PUT" },
    });
    assertErrorShape(foreign, "FORBIDDEN");
    assert.equal(foreign.headers["access-control-allow-origin"], undefined);
  });

  test("are counted by route and code, and logged with their id and user, never with a query", async () => {
    const log = new RecordingLog();
    const metrics = new RecordingMetrics();
    await using rest = await restFixture({ log, metrics });
    await inject(rest, { url: "/api/v1/page?limit=7", headers: { "x-request-id": "r-1" } });
    await inject(rest, { url: "/nothing?token=hunter2" });
    const lines = log.entries.map(({ level, message, fields }) => {
      const {
        request_id: requestId,
        route,
        status,
        path,
        user,
      } = fields as Record<string, unknown>;
      return { level, message, requestId: requestId === "r-1", route, status, path, user };
    });
    assert.deepEqual(lines, [
      {
        level: "debug",
        message: "request answered",
        requestId: true,
        route: "/api/v1/page",
        status: 200,
        path: "/api/v1/page",
        user: "controller@system.local",
      },
      {
        level: "debug",
        message: "request answered",
        requestId: false,
        route: undefined,
        status: 404,
        path: "/nothing",
        user: "controller@system.local",
      },
    ]);
    assert.ok(!JSON.stringify(log.entries).includes("hunter2"));
    const observed = (route: string, code: string): number =>
      metrics.observations("keelson_http_request_seconds", { method: "GET", route, code }).length;
    assert.deepEqual([observed("/api/v1/page", "200"), observed("unknown", "404")], [1, 1]);
  });
});

suite("the signal of a request", () => {
  /** A route that shows its signal to the test while it waits for the test's word. */
  function waiting() {
    const entered = Promise.withResolvers<AbortSignal>();
    const word = Promise.withResolvers<void>();
    const module: RouteModule = {
      name: "waiting",
      prefix: "/api/v1",
      bodyBytesMax,
      routes: () => (app, _options, done) => {
        app.put("/waiting", async (request) => {
          const { signal } = request;
          assert.equal(request.signal, signal);
          entered.resolve(signal);
          await word.promise;
          return { aborted: signal.aborted };
        });
        done();
      },
    };
    return { module, entered: entered.promise, answer: word.resolve };
  }
  const put =
    "PUT /api/v1/waiting HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

  test("does not abort when the body has been read, nor after the answer", async () => {
    const { module, entered, answer } = waiting();
    await using rest = await restFixture({ modules: [module] });
    const url = await rest.listen({ address: "127.0.0.1", port: 0 });
    const sent = fetch(`${url}/api/v1/waiting`, { method: "PUT", body: "{}", headers: json });
    const signal = await entered;
    // A whole request by another connection takes longer than closing this one's body.
    await (await fetch(`${url}/api/v1/nothing`)).text();
    assert.equal(signal.aborted, false);
    answer();
    assert.deepEqual(await (await sent).json(), { aborted: false });
    await (await fetch(`${url}/api/v1/nothing`)).text();
    assert.equal(signal.aborted, false);
  });

  test("aborts when the client leaves before it is answered", async () => {
    const { module, entered, answer } = waiting();
    await using rest = await restFixture({ modules: [module] });
    const url = new URL(await rest.listen({ address: "127.0.0.1", port: 0 }));
    const socket = connect(Number(url.port), "127.0.0.1");
    socket.write(`${put}Content-Length: 2\r\n\r\n{}`);
    const signal = await entered;
    const aborted = once(signal, "abort");
    socket.destroy();
    await aborted;
    answer();
  });
});

suite("stopping", () => {
  test("lets a stream end that heeds the signal, and closes the connections", async () => {
    const rest = await restFixture({
      limits: { readMs: 60_000, writeMs: 60_000, idleMs: 60_000, drainMs: 60_000 },
    });
    const url = new URL(await rest.listen({ address: "127.0.0.1", port: 0 }));
    const socket = connect(Number(url.port), "127.0.0.1");
    socket.write("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const [first] = (await once(socket, "data")) as [Buffer];
    const rest1 = text(socket);
    const idle = connect(Number(url.port), "127.0.0.1");
    await once(idle, "connect");
    const idleClosed = once(idle, "close");
    await rest[Symbol.asyncDispose]();
    assert.match(first.toString() + (await rest1), /begun[^]*stopped/);
    idle.resume();
    await idleClosed;
  });

  test("cuts off what does not end in time", async () => {
    const rest = await restFixture({
      limits: { readMs: 60_000, writeMs: 60_000, idleMs: 60_000, drainMs: 20 },
    });
    const url = new URL(await rest.listen({ address: "127.0.0.1", port: 0 }));
    const socket = connect(Number(url.port), "127.0.0.1");
    const arrived = once(rest.app.server, "request");
    const head = [
      "POST /api/v1/echo HTTP/1.1",
      "Host: localhost",
      "Content-Type: application/json",
    ];
    socket.write(`${head.join("\r\n")}\r\nContent-Length: 9\r\n\r\n{`);
    await arrived;
    const closed = once(socket, "close");
    await rest[Symbol.asyncDispose]();
    await closed;
  });

  test("frees the port", async () => {
    const first = await restFixture();
    const { port } = new URL(await first.listen({ address: "127.0.0.1", port: 0 }));
    const second = await restFixture({ modules: [showingRoutes] });
    await assert.rejects(second.listen({ address: "127.0.0.1", port: Number(port) }), {
      code: "EADDRINUSE",
    });
    await second[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await using third = await restFixture();
    await third.listen({ address: "127.0.0.1", port: Number(port) });
  });
});
