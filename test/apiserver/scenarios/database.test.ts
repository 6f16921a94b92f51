// What a client sees when the database is gone, silent or damaged: FAULT-2, 3, 8, 9, 10 and WATCH-10, at the real process.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { sharedThrowawayPostgres, startThrowawayPostgres } from "@keelson/database/testing";
import { PostgresProxy } from "@keelson/store/testing";
import postgres from "postgres";

import { temporaryFolder } from "../../e2e/keelson-process.ts";
import { runKeelson, type Run } from "../../e2e/run-keelson.ts";
import { CertificateAuthority } from "../../tools/certificates.ts";
import type { Request, Response } from "../../tools/http-client.ts";
import { until } from "../../tools/until.ts";
import { SqliteLook } from "../../simulation/world/look.ts";
import { LoadGenerator, missedBy } from "../loadgen.ts";
import { configMap } from "../objects.ts";
import { drivers, startOurs, type Ours } from "../ours.ts";
import { concurrency, measure } from "./length.ts";
import { metricOf } from "./metrics.ts";
import { openStream } from "./stream.ts";

const path = "/api/v1/namespaces/default/configmaps";

/** Longer than anybody should wait, for each wait anew; what is really waited is told. */
const patienceMs = 180_000;

function patienceOf({ signal }: { readonly signal: AbortSignal }): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
}

interface Timed extends Response {
  readonly ms: number;
}

async function timed(server: Ours, request: Request, signal: AbortSignal): Promise<Timed> {
  const began = performance.now();
  const answer = await server.client.send(request, signal);
  return { ...answer, ms: performance.now() - began };
}

async function create(server: Ours, name: string, signal: AbortSignal): Promise<void> {
  const { status, text } = await server.client.send(
    { method: "POST", path, body: configMap(name) },
    signal,
  );
  assert.equal(status, 201, text);
}

/** Where writers write, so that lists and watches elsewhere do not see it. */
const elsewhere = "/api/v1/namespaces/kube-public/configmaps";

const writes: Readonly<Record<string, (count: number) => Request>> = {
  create: (count) => ({ method: "POST", path: elsewhere, body: configMap(`w-${count}`) }),
  apply: (count) => ({
    method: "PATCH",
    path: `${elsewhere}/applied?fieldManager=w`,
    body: configMap("applied", { count: String(count) }),
    headers: { "content-type": "application/apply-patch+yaml" },
  }),
  merge: (count) => ({
    method: "PATCH",
    path: `${elsewhere}/merged`,
    body: { data: { count: String(count) } },
    headers: { "content-type": "application/merge-patch+json" },
  }),
};

suite("a database in trouble", { concurrency }, () => {
  test("FAULT-2 a PostgreSQL that is gone is a 503 with Retry-After, never a 404 or a short list, and heals by itself", async (t) => {
    await using database = await startThrowawayPostgres({ flavour: "embedded" }, t.signal);
    await using one = await database.createDatabase();
    await using server = await startOurs({ driver: "postgresql", databaseUrl: one.url }, t.signal);
    for (let index = 0; index < 40; index += 1) await create(server, `c-${index}`, t.signal);
    using stream = await openStream(server, `${path}?watch=1&resourceVersion=0`, t.signal);
    await stream.take(41, t.signal);
    const stop = new AbortController();
    const answers: Timed[] = [];
    const written: Timed[] = [];
    const asking = ["/c-1", "?limit=500", "?limit=7", "/c-2"].map(async (rest) => {
      while (!stop.signal.aborted) {
        const answer = await timed(server, { path: `${path}${rest}` }, t.signal);
        answers.push(answer);
        if (answer.status === 200) continue;
        await wait(20, undefined, { signal: t.signal });
      }
    });
    await server.client.send(
      { method: "POST", path: elsewhere, body: configMap("merged") },
      t.signal,
    );
    const acknowledged: string[] = [];
    const writing = Object.values(writes).map(async (write) => {
      for (let count = 0; !stop.signal.aborted; count += 1) {
        const answer = await timed(server, write(count), t.signal);
        written.push(answer);
        const { metadata } = answer.body as { metadata: { name?: string } };
        if (answer.status === 201 && metadata.name !== undefined) acknowledged.push(metadata.name);
        if (answer.status === 503) await wait(20, undefined, { signal: t.signal });
      }
    });
    const readyz = async (): Promise<number> =>
      (await timed(server, { path: "/readyz" }, t.signal)).status;
    await until(() => answers.length > 40 && acknowledged.length > 0, t.signal);
    const stoppedAt = performance.now();
    await database.stop({ mode: "immediate" });
    await until(async () => (await readyz()) !== 200, patienceOf(t));
    t.diagnostic(`readyz is red after ${Math.round(performance.now() - stoppedAt)} ms`);
    const verbose = await timed(server, { path: "/readyz?verbose" }, t.signal);
    assert.match(verbose.text, /^\[-\]database failed/m);
    assert.equal((await timed(server, { path: "/livez" }, t.signal)).status, 200);
    await until(() => written.some(({ status }) => status === 503), patienceOf(t));
    await until(() => answers.some(({ status }) => status === 503), patienceOf(t));
    await database.start();
    const startedAt = performance.now();
    await until(async () => (await readyz()) === 200, patienceOf(t));
    await until(
      async () => (await timed(server, { path: `${path}/c-1` }, t.signal)).status === 200,
      patienceOf(t),
    );
    t.diagnostic(`healed ${Math.round(performance.now() - startedAt)} ms after the database`);
    stop.abort();
    await Promise.all([...asking, ...writing]);
    for (const { status, headers, text } of written) {
      assert.ok([200, 201, 503].includes(status), `${status} ${text.slice(0, 200)}`);
      if (status === 503) assert.ok(headers["retry-after"] !== undefined, text);
    }
    for (const name of acknowledged) {
      const { status } = await server.client.send({ path: `${elsewhere}/${name}` }, t.signal);
      assert.equal(status, 200, `${name} was acknowledged`);
    }
    for (const { status, headers, text, body } of answers) {
      assert.ok(status === 200 || status === 503, `${status} ${text.slice(0, 200)}`);
      if (status === 503) assert.ok(headers["retry-after"] !== undefined, text);
      const { items, metadata } = body as {
        items?: readonly unknown[];
        metadata: { remainingItemCount?: number };
      };
      if (status === 200 && items !== undefined)
        assert.equal(items.length + (metadata.remainingItemCount ?? 0), 41, "a short list");
    }
    // A watch goes on, or has ended so that it can be taken up again.
    await create(server, "after", t.signal);
    const next = await stream.next(patienceOf(t));
    assert.deepEqual(
      [next?.type ?? "end", next?.name ?? ""],
      next === undefined ? ["end", ""] : ["ADDED", "after"],
    );
  });

  test("FAULT-2 a PostgreSQL that takes no writes refuses them with a 503 and Retry-After, readyz says so, reads go on, and it heals by itself", async (t) => {
    await using database = await startThrowawayPostgres({ flavour: "embedded" }, t.signal);
    const one = await database.createDatabase(); // It goes with its server.
    await using server = await startOurs({ driver: "postgresql", databaseUrl: one.url }, t.signal);
    await create(server, "a", t.signal);
    using stream = await openStream(server, `${path}?watch=1&resourceVersion=0`, t.signal);
    await stream.take(2, t.signal);
    const ready = async (): Promise<boolean> =>
      (await timed(server, { path: "/readyz" }, t.signal)).status === 200;

    await setReadOnly(one.url, "on");
    const patch = { "content-type": "application/merge-patch+json" };
    const refused: readonly Request[] = [
      { method: "POST", path, body: configMap("b") },
      { method: "PUT", path: `${path}/a`, body: configMap("a", { a: "2" }) },
      { method: "PATCH", path: `${path}/a`, body: { data: { a: "3" } }, headers: patch },
      { method: "DELETE", path: `${path}/a` },
    ];
    for (const request of refused) {
      const { status, headers, text } = await timed(server, request, t.signal);
      assert.equal(status, 503, `${request.method} ${text}`);
      assert.match(text, /the database accepts no writes/, request.method);
      assert.ok(headers["retry-after"] !== undefined, request.method);
    }
    await until(async () => !(await ready()), patienceOf(t));
    const verbose = await timed(server, { path: "/readyz?verbose" }, t.signal);
    assert.match(verbose.text, /^\[-\]database failed/m);
    assert.equal((await timed(server, { path: "/livez" }, t.signal)).status, 200);
    for (const read of [`${path}/a`, path, `${path}?limit=1`])
      assert.equal((await timed(server, { path: read }, t.signal)).status, 200, read);

    await setReadOnly(one.url, "off");
    await until(ready, patienceOf(t));
    await create(server, "b", t.signal);
    const next = await stream.next(patienceOf(t));
    assert.deepEqual([next?.type, next?.name], ["ADDED", "b"]);
  });

  test("FAULT-3 a PostgreSQL that says nothing any more: each request ends, readyz says so, livez stays green", async (t) => {
    const shared = await sharedThrowawayPostgres("embedded");
    await using one = await shared.createDatabase();
    await using proxy = await PostgresProxy.start(one.url);
    await using server = await startOurs(
      { driver: "postgresql", databaseUrl: proxy.url },
      t.signal,
    );
    await create(server, "a", t.signal);
    proxy.isStalled = true;
    const patience = patienceOf(t);
    const patch = { "content-type": "application/merge-patch+json" };
    const requests: readonly Request[] = [
      { path: `${path}/a` },
      { path },
      { path: `${path}?limit=1` },
      { method: "POST", path, body: configMap("b") },
      { method: "PUT", path: `${path}/a`, body: configMap("a", { a: "2" }) },
      { method: "PATCH", path: `${path}/a`, body: { data: { a: "3" } }, headers: patch },
      { method: "DELETE", path: `${path}/a` },
    ];
    const answers = requests.map((request) => timed(server, request, patience));
    const ready = await timed(server, { path: "/readyz" }, patience);
    const live = await timed(server, { path: "/livez" }, patience);
    assert.deepEqual([ready.status === 200, live.status], [false, 200]);
    t.diagnostic(`readyz answered ${ready.status} after ${Math.round(ready.ms)} ms`);
    const ended = await Promise.all(answers);
    for (const [index, { status, text, headers }] of ended.entries()) {
      const what = JSON.stringify(requests[index]);
      assert.ok(status === 503 || status === 504, `${what}: ${status} ${text}`);
      if (status === 503) assert.ok(headers["retry-after"] !== undefined, what);
    }
    const longest = Math.max(...ended.map(({ ms }) => ms));
    t.diagnostic(`the last request ended after ${Math.round(longest)} ms`);
    proxy.isStalled = false;
    proxy.cut();
    const healing = patienceOf(t);
    await until(
      async () => (await timed(server, { path: "/readyz" }, healing)).status === 200,
      healing,
    );
    await until(
      async () => (await timed(server, { path: `${path}/a` }, healing)).status !== 503,
      healing,
    );
  });

  for (const driver of drivers) {
    test(`FAULT-8 a row that cannot be read fails its reads by its key; the rest is served, ${driver}`, async (t) => {
      await using undo = new AsyncDisposableStack();
      const shared =
        driver === "postgresql" ? await sharedThrowawayPostgres("embedded") : undefined;
      const one = shared === undefined ? undefined : undo.use(await shared.createDatabase());
      const server = undo.use(await startOurs({ driver, databaseUrl: one?.url }, t.signal));
      for (const name of ["bad", "good"]) await create(server, name, t.signal);
      const before = (await metricOf(server, "keelson_store_corrupt_total", t.signal)) ?? 0;
      await server.stop("SIGTERM");
      const table = one === undefined ? "objects" : "ark.resources";
      const damage = `UPDATE ${table} SET object = '{"kind":' WHERE kind = 'ConfigMap' AND name = 'bad'`;
      if (one === undefined) {
        using database = new DatabaseSync(join(server.dataDir, "apiserver.db"));
        database.exec(damage);
      } else {
        const sql = postgres(one.url, { max: 1 });
        await sql.unsafe(damage);
        await sql.end();
      }
      await server.start(t.signal);
      const get = async (rest: string): Promise<Response> =>
        await server.client.send({ path: rest }, t.signal);
      for (const read of [`${path}/bad`, path]) {
        const { status, text } = await get(read);
        assert.equal(status, 500, text);
        assert.match(text, /default\/bad/);
      }
      for (const read of [
        `${path}/good`,
        "/api/v1/namespaces/kube-system/configmaps",
        "/api/v1/namespaces/default/secrets",
      ])
        assert.equal((await get(read)).status, 200, read);
      await until(async () => (await get("/readyz")).status === 200, patienceOf(t));
      await create(server, "new", t.signal);
      const after = (await metricOf(server, "keelson_store_corrupt_total", t.signal)) ?? 0;
      assert.ok(after >= before + 2, `${before} → ${after}`);
    });
  }

  test("FAULT-9 no replication slot and no publication of ours exists, in use or afterwards", async (t) => {
    await using database = await startThrowawayPostgres({ flavour: "embedded" }, t.signal);
    await using one = await database.createDatabase();
    const sql = postgres(one.url, { max: 1, onnotice: () => undefined });
    const traces = async (): Promise<unknown> => {
      const [counts] = await sql`
        SELECT (SELECT count(*)::int FROM pg_replication_slots) AS slots,
               (SELECT count(*)::int FROM pg_publication) AS publications,
               (SELECT count(*)::int FROM pg_subscription) AS subscriptions`;
      return counts;
    };
    const none = { slots: 0, publications: 0, subscriptions: 0 };
    {
      await using server = await startOurs(
        { driver: "postgresql", databaseUrl: one.url },
        t.signal,
      );
      using stream = await openStream(server, `${path}?watch=1`, t.signal);
      await create(server, "a", t.signal);
      await until(async () => (await stream.next(t.signal))?.name === "a", t.signal);
      assert.deepEqual(await traces(), none);
      await server.stop("SIGTERM");
    }
    assert.deepEqual(await traces(), none);
    await sql`DROP SCHEMA ark CASCADE`;
    const left = await sql`
      SELECT n.nspname FROM pg_namespace n
      WHERE n.nspname NOT LIKE 'pg_%' AND n.nspname NOT IN ('information_schema', 'public')`;
    assert.deepEqual([await traces(), [...left]], [none, []]);
    await sql.end();
  });

  test("FAULT-10 a second process on the file refuses to start, and the first goes on", async (t) => {
    await using server = await startOurs({ driver: "sqlite" }, t.signal);
    await create(server, "a", t.signal);
    const file = join(server.dataDir, "apiserver.db");
    const { code, output } = await secondOn(file, t.signal);
    assert.notEqual(code, 0);
    assert.match(output, /apiserver\.db/);
    assert.match(output, /another|other|in use|lock/i);
    await create(server, "b", t.signal);
    using look = new SqliteLook(file);
    assert.equal(look.integrity(), "ok");
    assert.equal((await timed(server, { path: `${path}/a` }, t.signal)).status, 200);
  });

  test("WATCH-10 a write on one replica is seen on the other, also when nobody is woken, and the metric says so", async (t) => {
    const shared = await sharedThrowawayPostgres("embedded");
    await using one = await shared.createDatabase();
    await using proxy = await PostgresProxy.start(one.url);
    await using undo = new AsyncDisposableStack();
    const certDir = mkdtempSync(join(tmpdir(), "keelson-replicas-"));
    undo.defer(() => rmSync(certDir, { recursive: true, force: true }));
    const authority = await CertificateAuthority.create("replicas");
    const shares = { driver: "postgresql", certDir, authority } as const;
    const first = undo.use(await startOurs({ ...shares, databaseUrl: one.url }, t.signal));
    const second = undo.use(await startOurs({ ...shares, databaseUrl: proxy.url }, t.signal));
    using load = new LoadGenerator(first);
    const seconds = measure({ gate: 2, full: 30 });
    const seen = async (what: string): Promise<void> => {
      const options = { verb: "watch", watchers: 1, rate: 20, seconds, prefix: what } as const;
      const result = await load.run({ ...options, watchUrls: [second.url] }, t.signal);
      assert.deepEqual([missedBy(result), result.errors], [undefined, {}], result.sample);
      t.diagnostic(
        `${what}: ${result.requests} writes, p50 ${result.p50} ms, p99 ${result.p99} ms`,
      );
    };
    const degraded = async (): Promise<number | undefined> =>
      await metricOf(second, "keelson_notify_degraded", t.signal);
    await until(async () => (await degraded()) === 0, patienceOf(t));
    await seen("woken");
    await cutListeners(one.url);
    await seen("terminated");
    proxy.swallowsNotifications = true;
    proxy.cut(); // What connects now is probed at once.
    await until(async () => (await degraded()) === 1, patienceOf(t));
    await seen("pooled");
    assert.equal(await degraded(), 1);
  });
});

/** As an operator does it, or a provider whose disk runs out: for all sessions, from their next statement on. */
async function setReadOnly(url: string, value: "on" | "off"): Promise<void> {
  const sql = postgres(url, { max: 1 });
  await sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await sql`SELECT pg_reload_conf()`;
  const isSet = async (): Promise<boolean> => {
    const [row] = await sql`SELECT current_setting('default_transaction_read_only') AS now`;
    return row?.["now"] === value;
  };
  await until(isSet, AbortSignal.timeout(patienceMs));
  await sql.end();
}

async function cutListeners(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 });
  const cut = await sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND query ILIKE 'listen %'`;
  assert.equal(cut.length, 2);
  await sql.end();
}

/** Another server with a data folder of its own, but this file. */
async function secondOn(file: string, signal: AbortSignal): Promise<Run> {
  await using folder = await temporaryFolder();
  const flags = ["--data-dir", folder.path, "--sqlite-path", file];
  const words = ["apiserver", ...flags, "--kube-port", "0", "--metrics-port", "0"];
  return await runKeelson(words, { cwd: folder.path }, signal);
}
