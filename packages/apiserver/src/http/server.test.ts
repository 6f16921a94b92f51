import assert from "node:assert/strict";
import { once, type EventEmitter } from "node:events";
import http from "node:http";
import { connect as connectHttp2, type Settings } from "node:http2";
import https from "node:https";
import { connect, type Socket } from "node:net";
import { suite, test } from "node:test";
import { connect as connectTls } from "node:tls";

import { systemRandom, type JsonObject } from "@keelson/base";
import { ManualClock, until } from "@keelson/base/testing";
import { failures } from "@keelson/kube";

import type { FinishedRequest } from "../audit.ts";
import type { Credentials } from "../auth/authenticator.ts";
import { createAuthority, createKey, issueCertificate } from "../auth/pki/certificate.ts";
import { Api } from "../testing/api.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { bodyBytesMax, strangersBytesMax } from "./receive-body.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});

/** Bytes over a socket of their own, and all that comes back until the server closes it. */
async function rawly(server: TestServer, bytes: string | Buffer): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.end(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The bodies of answers that came one after the other, of those that have one. */
function answersIn(bytes: Buffer, haveBody: readonly boolean[]): readonly string[] {
  const lineEnd = (from: number): number => bytes.indexOf("\r\n", from);
  let at = 0;
  return haveBody.map((hasBody) => {
    const headEnd = bytes.indexOf("\r\n\r\n", at) + 4;
    const head = bytes.subarray(at, headEnd).toString("latin1");
    assert.match(head, /^HTTP\/1\.1 /);
    at = headEnd;
    if (!hasBody) return "";
    if (!/transfer-encoding: chunked/i.test(head)) {
      at += Number(/content-length: (\d+)/i.exec(head)?.[1]);
      return bytes.subarray(headEnd, at).toString();
    }
    const pieces: Buffer[] = [];
    for (;;) {
      const size = Number.parseInt(bytes.subarray(at, lineEnd(at)).toString("latin1"), 16);
      const start = lineEnd(at) + 2;
      pieces.push(bytes.subarray(start, start + size));
      assert.equal(bytes.subarray(start + size, start + size + 2).toString(), "\r\n");
      at = start + size + 2;
      if (size === 0) return Buffer.concat(pieces).toString();
    }
  });
}

/** The Status in an answer as it came. */
function statusIn(text: string): { readonly code: number; readonly kind: string } {
  const line = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
  const { kind = "", code = 0 } = JSON.parse(text.slice(text.indexOf("\r\n\r\n"))) as {
    kind?: string;
    code?: number;
  };
  assert.equal(line, code);
  return { code, kind };
}

suite("the transport", () => {
  test("answers whatever is no request with a Status of its own", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const end = "host: x\r\nconnection: close\r\n\r\n";
    const cases = {
      "no HTTP": "HELLO\r\n\r\n",
      "an unknown method": `FROB /api/v1/pods HTTP/1.1\r\n${end}`,
      "headers without end": `GET / HTTP/1.1\r\nx: ${"y".repeat(40_000)}\r\n${end}`,
      "a body that is shorter than promised": `POST ${maps} HTTP/1.1\r\ncontent-length: 9\r\n${end}{}`,
      "a length that is none": `POST ${maps} HTTP/1.1\r\ncontent-length: x\r\n${end}`,
    };
    const told: Record<string, unknown> = {};
    for (const [name, bytes] of Object.entries(cases)) {
      told[name] = statusIn(await rawly(server, bytes));
    }
    assert.deepEqual(told, {
      "no HTTP": { code: 400, kind: "Status" },
      "an unknown method": { code: 400, kind: "Status" },
      "headers without end": { code: 431, kind: "Status" },
      "a body that is shorter than promised": { code: 400, kind: "Status" },
      "a length that is none": { code: 400, kind: "Status" },
    });
  });

  test("takes paths as they come, and no framework has a word in them", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const get = async (path: string, method = "GET"): Promise<string> => {
      const text = Buffer.from(
        `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      );
      const answer = await rawly(server, text);
      return `${/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]} ${answer.slice(answer.indexOf("\r\n\r\n") + 4).trim()}`;
    };
    const long = "x".repeat(9_000);
    const told = {
      "bytes beyond ASCII": await get(`${maps}/grün`),
      "a bad escape": await get(`${maps}/%zz`),
      "a name that is too long": (await get(`${maps}/${long}`)).slice(0, 3),
      "another method": (await get(maps, "OPTIONS")).slice(0, 3),
      "a method of files": (await get(maps, "PROPFIND")).slice(0, 3),
      "a star": await get("*", "OPTIONS"),
    };
    for (const text of Object.values(told)) assert.ok(!text.includes("FST_"), text);
    assert.match(told["bytes beyond ASCII"], /^400 \{"kind":"Status"/);
    assert.match(told["a bad escape"], /^400 \{"kind":"Status".*Name parameter invalid/);
    assert.equal(told["a name that is too long"], "400");
    assert.equal(told["another method"], "405");
    assert.equal(told["a method of files"], "405");
    assert.equal(told["a star"], "404 404 page not found");
  });

  test("refuses a body over the limit, whatever the verb, and tells the audit (KB 33)", async (t) => {
    const finished: FinishedRequest[] = [];
    const audit = (request: FinishedRequest): void => void finished.push(request);
    await using server = await startTestServer({ audit }, t.signal);
    const api = new Api(server.url, t.signal);
    const body = Buffer.alloc(bodyBytesMax + 1, " ");
    const codes: Record<string, number> = {};
    for (const [method, path] of [
      ["POST", maps],
      ["PUT", `${maps}/a`],
      ["PATCH", `${maps}/a`],
      ["DELETE", `${maps}/a`],
    ] as const) {
      const reply = await api.send(method, path, { body });
      codes[method] = reply.code;
      assert.equal(reply.object["reason"], "RequestEntityTooLarge");
    }
    assert.deepEqual(codes, { POST: 413, PUT: 413, PATCH: 413, DELETE: 413 });
    assert.deepEqual(
      finished.map(({ code, attributes }) => [code, attributes?.verb]),
      [
        [413, "create"],
        [413, "update"],
        [413, "patch"],
        [413, "delete"],
      ],
    );
    // Exactly the limit is read, and found wanting for another reason.
    assert.equal((await api.send("POST", maps, { body: body.subarray(1) })).code, 400);
  });

  test("takes a body without a type for JSON, over HTTP/2 too, where nothing tells its length", async (t) => {
    await using server = await startTestServer({ tls: await certificates() }, t.signal);
    const session = connectHttp2(server.url, { rejectUnauthorized: false });
    try {
      const send = async (headers: Record<string, string>, body: string): Promise<number> => {
        const stream = session.request({ ":method": "POST", ":path": maps, ...headers });
        stream.end(body);
        const [response] = (await once(stream, "response")) as [{ ":status": number }];
        stream.resume();
        await once(stream, "close");
        return response[":status"];
      };
      assert.deepEqual(
        [
          await send({}, JSON.stringify(configMap("plain"))),
          await send({ "content-type": "text/csv" }, JSON.stringify(configMap("csv"))),
          await send({ "x-keelson-sent-type": "text/csv" }, JSON.stringify(configMap("spoofed"))),
          await send({}, " ".repeat(bodyBytesMax + 1)),
        ],
        [201, 415, 201, 413],
      );
    } finally {
      session.close();
    }
  });

  test("warns in UTF-8, over HTTP/1.1 and HTTP/2, whatever the body", async (t) => {
    await using server = await startTestServer({ tls: await certificates() }, t.signal);
    const body = JSON.stringify(configMap("a", { "é 日本": 1, data: { a: "é" } }));
    const request = https.request(`${server.url}${maps}?dryRun=All`, {
      method: "POST",
      rejectUnauthorized: false,
    });
    request.end(body);
    const [answer] = (await once(request, "response")) as [http.IncomingMessage];
    answer.resume();
    const session = connectHttp2(server.url, { rejectUnauthorized: false });
    try {
      const stream = session.request({ ":method": "POST", ":path": `${maps}?dryRun=All` });
      stream.end(body);
      const [response] = (await once(stream, "response")) as [Record<string, string>];
      stream.resume();
      await once(stream, "close");
      for (const warning of [answer.headers["warning"], response["warning"]]) {
        const text = Buffer.from(String(warning), "latin1").toString();
        assert.equal(text, String.raw`299 - "unknown field \"é 日本\""`);
      }
    } finally {
      session.close();
    }
  });

  test("warns in UTF-8 before a watch", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const spec = {
      group: "example.com",
      scope: "Cluster",
      names: { plural: "things", kind: "Thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object" } },
          deprecated: true,
          deprecationWarning: "étrange",
        },
      ],
    };
    const metadata = { name: "things.example.com" };
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert.equal((await api.create(definitions, { metadata, spec })).code, 201);
    const path = "/apis/example.com/v1/things";
    await until(async () => (await api.get(path)).code === 200, "Things are served");
    const answer = await rawly(
      server,
      `GET ${path}?watch=1&timeoutSeconds=1 HTTP/1.1\r\nhost: x\r\n\r\n`,
    );
    assert.match(answer, /^warning: 299 - "étrange"\r$/im);
  });

  test("outlives a client that leaves in the middle of a request, and tells where it came from", async (t) => {
    const finished = Promise.withResolvers<FinishedRequest>();
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const authenticator = {
      authenticate: async () => {
        asked.resolve();
        await left.promise;
        return { user: { name: "tester", uid: "", groups: ["system:masters"], extra: {} } };
      },
    };
    const audit = (request: FinishedRequest): void => finished.resolve(request);
    const tls = await certificates();
    await using server = await startTestServer({ tls, authenticator, audit }, t.signal);
    server.api.server.listener.on("session", (session: EventEmitter) => {
      session.once("close", () => setImmediate(() => left.resolve()));
    });
    const session = connectHttp2(server.url, { rejectUnauthorized: false });
    session.on("error", () => undefined);
    session.request({ ":path": maps }).on("error", () => undefined);
    await asked.promise;
    session.destroy();
    assert.match((await finished.promise).sourceAddress, /127\.0\.0\.1$/);
  });

  test("does not wait for a body for ever (KB 54)", async (t) => {
    for (const length of [100, strangersBytesMax + 1]) {
      const clock = new ManualClock();
      await using server = await startTestServer({ clock }, t.signal);
      const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
      const begun = once(server.api.server.listener, "request");
      const head = `POST ${maps} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
      socket.write(`${head}{"half":`);
      await begun;
      const answered = (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of socket) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString();
      })();
      await clock.advance(34_250);
      assert.deepEqual(statusIn(await answered), { code: 504, kind: "Status" });
    }
  });

  test("tells a stranger so before its body has come, and takes no more of it than a connection holds", async (t) => {
    const finished: FinishedRequest[] = [];
    const audit = (request: FinishedRequest): void => void finished.push(request);
    const authenticator = {
      authenticate: ({ authorization }: Credentials) => {
        if (authorization !== undefined) throw failures.unauthorized();
        return undefined;
      },
    };
    const tls = await certificates();
    await using server = await startTestServer({ tls, authenticator, audit }, t.signal);
    const session = connectHttp2(server.url, { rejectUnauthorized: false });
    try {
      const [settings] = (await once(session, "remoteSettings")) as [Settings];
      assert.equal(settings.initialWindowSize, strangersBytesMax);
      const half = async (headers: Record<string, string>): Promise<number> => {
        const stream = session.request({ ":method": "POST", ":path": maps, ...headers });
        stream.write(Buffer.alloc(bodyBytesMax / 2, " "));
        const [response] = (await once(stream, "response")) as [{ ":status": number }];
        await once(stream.resume(), "close");
        return response[":status"];
      };
      const length = { "content-length": String(2 * bodyBytesMax) };
      const bad = { authorization: "Bearer nobody" };
      assert.deepEqual(
        [await half(length), await half({}), await half({ ...length, ...bad }), await half(bad)],
        [403, 403, 401, 401],
      );
    } finally {
      session.close();
    }
    const told = finished.map(({ code, user }) => [code, user?.name]);
    assert.deepEqual(told, [
      [403, "system:anonymous"],
      [403, "system:anonymous"],
      [401, undefined],
      [401, undefined],
    ]);
  });

  test("a client that leaves before its large body was asked for keeps nobody waiting", async (t) => {
    const finished = Promise.withResolvers<FinishedRequest>();
    const asked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const authenticator = {
      authenticate: async () => {
        asked.resolve();
        await left.promise;
        return { user: { name: "tester", uid: "", groups: ["system:masters"], extra: {} } };
      },
    };
    const audit = (request: FinishedRequest): void => finished.resolve(request);
    await using server = await startTestServer({ authenticator, audit }, t.signal);
    const { listener } = server.api.server;
    const arrived = once(listener, "request") as Promise<[EventEmitter, EventEmitter]>;
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const length = strangersBytesMax + 1;
    socket.write(`POST ${maps} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n{"half":`);
    const [, response] = await arrived;
    await asked.promise;
    response.once("close", () => left.resolve());
    socket.destroy();
    assert.equal((await finished.promise).user?.name, "tester");
  });

  test("refuses a timeout that is none before anything else", async (t) => {
    const finished: FinishedRequest[] = [];
    const audit = (request: FinishedRequest): void => void finished.push(request);
    await using server = await startTestServer({ audit }, t.signal);
    const api = new Api(server.url, t.signal);
    const { code, object } = await api.get(`${maps}?timeout=soon`);
    assert.deepEqual([code, object["reason"]], [400, "BadRequest"]);
    assert.deepEqual(
      finished.map((one) => [one.code, one.path]),
      [[400, maps]],
    );
  });

  test("long lists come whole to whoever asks for several at once, and to who knows no chunks", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const mine = "fieldSelector=metadata.name!%3Dkube-root-ca.crt";
    const text = "ü".repeat(9_000);
    const names = Array.from({ length: 60 }, (_, n) => `m${String(n).padStart(2, "0")}`);
    for (const name of names) await api.create(maps, configMap(name, { data: { text } }));
    const itemsIn = (body: string): unknown[] =>
      (JSON.parse(body) as { items: JsonObject[] }).items.map(({ metadata, data }) => [
        (metadata as JsonObject)["name"],
        (data as JsonObject)["text"] === text,
      ]);
    const expected = names.map((name) => [name, true]);

    const old = await rawly(server, `GET ${maps}?${mine} HTTP/1.0\r\nhost: x\r\n\r\n`);
    assert.doesNotMatch(old.slice(0, old.indexOf("\r\n\r\n")), /transfer-encoding/i);
    assert.deepEqual(itemsIn(old.slice(old.indexOf("\r\n\r\n") + 4)), expected);

    const ask = `GET ${maps}?${mine} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const last = `GET ${maps}/m07 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;
    const head = `HEAD ${maps}?${mine} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.end(ask + head + ask + last);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answers = answersIn(Buffer.concat(chunks), [true, false, true, true]);
    assert.deepEqual(itemsIn(answers[0] ?? ""), expected);
    assert.deepEqual(itemsIn(answers[2] ?? ""), expected);
    assert.match(answers[3] ?? "", /"name":"m07"/);
  });

  test("a connection may rest for a while between requests, encrypted or not", async (t) => {
    for (const settings of [{}, { tls: await certificates() }]) {
      await using server = await startTestServer(settings, t.signal);
      const { get } = "tls" in settings ? https : http;
      const headers = { connection: "keep-alive" };
      const request = get(`${server.url}${maps}`, { rejectUnauthorized: false, headers });
      const [answer] = (await once(request, "response")) as [http.IncomingMessage];
      await once(answer.resume(), "end");
      request.destroy();
      assert.equal(answer.headers["keep-alive"], "timeout=90");
    }
  });

  test("a connection whose handshake ends after the server began to stop does not keep it from stopping", async (t) => {
    await using server = await startTestServer({ tls: await certificates() }, t.signal);
    const begun = once(server.api.server.listener, "connection");
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    await begun;
    const stopping = once(server.api.server.stopping, "abort");
    const stopped = server.api.server[Symbol.asyncDispose]();
    await stopping;
    // As a client that comes again and again: it would go on with its connection for as long as it is let.
    const secured = connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
    secured.on("error", () => undefined);
    secured.write(`GET ${maps} HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\n\r\n`);
    await stopped;
  });

  test("a request that has come when the server begins to stop is answered", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const { listener } = server.api.server;
    const stopped = once(listener, "request").then(() => server.api.server[Symbol.asyncDispose]());
    const answer = await rawly(server, `GET ${maps} HTTP/1.1\r\nhost: x\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    await stopped;
  });

  test("a client that leaves ends its watch, and its place is free again", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const ended = Promise.withResolvers<void>();
    const api = new Api(server.url, t.signal);
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const request = once(server.api.server.listener, "request");
    socket.write(`GET ${maps}?watch=1 HTTP/1.1\r\nhost: x\r\n\r\n`);
    const [, response] = (await request) as [unknown, NodeJS.EventEmitter];
    response.once("close", () => ended.resolve());
    await once(socket, "data");
    socket.destroy();
    await ended.promise;
    assert.equal((await api.get(maps)).code, 200);
  });

  test("a reader that stalls holds no more than its window, and loses nothing", async (t) => {
    await using server = await startTestServer({}, t.signal);
    const api = new Api(server.url, t.signal);
    const sockets: Socket[] = [];
    server.api.server.listener.on("connection", (socket: Socket) => sockets.push(socket));
    const reader = connect(Number(new URL(server.url).port), "127.0.0.1");
    reader.write(`GET ${maps}?watch=1&resourceVersion=1 HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(reader, "readable");
    reader.pause();
    const [held] = sockets;
    assert.ok(held !== undefined);
    const count = 150;
    const filler = "x".repeat(100_000);
    let most = 0;
    for (let index = 0; index < count; index += 1) {
      const { code } = await api.create(maps, configMap(`big-${index}`, { data: { filler } }));
      assert.equal(code, 201);
      most = Math.max(most, held.writableLength);
    }
    // One batch of changes at most, of the 15 MB that were written.
    assert.ok(most < 4_000_000, `${most} bytes wait for one reader`);
    let seen = 0;
    let rest = "";
    reader.setEncoding("utf8");
    for await (const chunk of reader) {
      rest += chunk as string;
      for (;;) {
        const at = rest.indexOf('"name":"big-');
        if (at < 0) break;
        seen += 1;
        rest = rest.slice(at + 12);
      }
      rest = rest.slice(-20);
      if (seen === count) break;
    }
    assert.equal(seen, count);
  });
});

async function certificates(): Promise<{ readonly cert: string; readonly key: string }> {
  const validity = { notBefore: new Date(Date.now() - 1000), notAfter: new Date(Date.now() + 1e7) };
  const options = { validity, random: systemRandom };
  const key = createKey();
  const authority = { certificate: await createAuthority({ name: "test", key }, options), key };
  const { certificate, key: own } = await issueCertificate(
    authority,
    { name: "server", hosts: ["127.0.0.1"] },
    options,
  );
  return { cert: certificate, key: own };
}
