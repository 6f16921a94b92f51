// What a lost, slow or foolish database does to its callers.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres, startThrowawayPostgres } from "@keelson/database/testing";
import { systemClock } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { SchemaMismatch, Unavailable } from "../errors.ts";
import { Store } from "../store.ts";
import { everywhere, key, object, signal, summary, take } from "../testing/bed.ts";
import { freshDatabase } from "../testing/postgres-bed.ts";
import { PostgresProxy } from "../testing/postgres-proxy.ts";
import { PostgresBackend } from "./backend.ts";
import { migratePostgres } from "./migrate.ts";

suite("failures of PostgreSQL", () => {
  test("losing the database is Unavailable, never NotFound or a short list, and heals by itself", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded" });
    const made = await server.createDatabase();
    await migratePostgres({ url: made.url, schema: "ark" });
    const backend = await PostgresBackend.open({ url: made.url, clock: systemClock }, signal);
    await using store = await Store.open({ backend }, signal);
    for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
    using watch = await store.watch(everywhere, { from: 4 }, signal);
    const next = take(watch, 1);

    await server.stop({ mode: "immediate" });
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => store.get(key("a"), signal),
      () => store.get(key("ghost"), signal),
      () => store.list(everywhere, {}, signal),
      () => store.create(key("x"), object("x"), signal),
      () => store.delete(key("a"), {}, signal),
      () => store.ping(signal),
      () => store.watch(everywhere, { from: 1 }, signal),
    ];
    for (const attempt of attempts)
      await assert.rejects(
        attempt(),
        (error) => error instanceof Unavailable && error.retryAfterMs > 0,
      );

    await server.start();
    await until(() =>
      store.ping(signal).then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await store.list(everywhere, {}, signal)).items.length, 3);
    await store.create(key("d"), object("d"), signal);
    assert.deepEqual((await next).map(summary), ["ADDED d 5"]);
  });

  test("a peer that has vanished ends each call in its time, and a new connection heals", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    await using store = await open({ url: proxy.url, callMsMax: 300 });
    await store.create(key("a"), object("a"), signal);
    proxy.isStalled = true;
    const attempts = [
      store.list(everywhere, {}, signal),
      store.create(key("b"), object("b"), signal),
      store.ping(signal),
    ];
    for (const result of await Promise.allSettled(attempts)) {
      assert.ok(result.status === "rejected" && result.reason instanceof Unavailable);
    }
    proxy.isStalled = false;
    await until(() =>
      store.ping(signal).then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await store.get(key("a"), signal)).key.name, "a");
  });

  test("callers of little patience do not keep a dead connection alive", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    await using store = await open({ url: proxy.url, callMsMax: 1000 });
    await store.ping(signal);
    proxy.isStalled = true;
    const stalled = proxy.connections;
    await until(async () => {
      await assert.rejects(store.ping(systemClock.timeout(50)));
      return proxy.connections > stalled;
    });
    proxy.isStalled = false;
    await until(() =>
      store.ping(signal).then(
        () => true,
        () => false,
      ),
    );
  });

  test("an answer that is lost leaves the write done and announced once, or not done", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    await using store = await open({ url: proxy.url, callMsMax: 500 });
    using watch = await store.watch(everywhere, { from: 1 }, signal);
    await store.create(key("a"), object("a"), signal);
    proxy.dropsAnswers = true;
    await assert.rejects(store.create(key("b"), object("b"), signal), Unavailable);
    proxy.dropsAnswers = false;
    await until(() =>
      store.create(key("c"), object("c"), signal).then(
        () => true,
        () => false,
      ),
    );
    assert.deepEqual((await take(watch, 3)).map(summary), ["ADDED a 2", "ADDED b 3", "ADDED c 4"]);
    assert.equal((await store.list(everywhere, {}, signal)).items.length, 3);
  });

  test("acknowledged means on disk, whatever the role has set", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url, open } = parts;
    const role = new URL(url).username;
    const name = new URL(url).pathname.slice(1);
    await sql.unsafe(`ALTER ROLE ${role} IN DATABASE ${name} SET synchronous_commit = off`);
    await sql.unsafe(`CREATE TABLE seen (level text);
      CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO ark.seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER look AFTER INSERT ON changes DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION look()`);
    await using store = await open();
    await store.create(key("a"), object("a"), signal);
    await Promise.all(["b", "c"].map((each) => store.create(key(each), object(each), signal)));
    const levels = await sql`SELECT level, count(*)::int AS count FROM seen GROUP BY level`;
    assert.deepEqual(
      levels.map((row) => ({ ...row })),
      [{ level: "on", count: 3 }],
    );
  });

  test("an isolation level that a batch cannot work with is refused with the reason", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url, open } = parts;
    const name = new URL(url).pathname.slice(1);
    await sql.unsafe(
      `ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`,
    );
    await assert.rejects(
      open(),
      (error) => error instanceof SchemaMismatch && /read committed/.test(error.message),
    );
  });

  test("a head that went back lets every earlier revision expire", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await using store = await open();
    for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
    using watch = await store.watch(everywhere, { from: 4 }, signal);
    const next = watch.next();
    // As a restore of an earlier state would leave it.
    await sql`DELETE FROM changes WHERE revision > 2`;
    await sql`DELETE FROM resources WHERE name <> 'a'`;
    await sql`UPDATE meta SET head = 2`;
    await assert.rejects(store.get(key("c"), signal), { code: "NotFound" });
    await assert.rejects(next, { code: "Expired" });
    assert.ok((await store.create(key("d"), object("d"), signal)).revision > 1_000_000_000);
  });

  test("no connection left is Unavailable and names the cause", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url } = parts;
    const name = new URL(url).pathname.slice(1);
    await sql.unsafe(`ALTER DATABASE ${name} CONNECTION LIMIT 0`);
    const role = `limited_${process.pid}`;
    await sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    const own = new URL(url);
    own.username = role;
    own.password = "secret";
    await assert.rejects(
      PostgresBackend.open({ url: own.href, clock: systemClock }, signal),
      (error) => error instanceof Unavailable && /too many connections/.test(error.message),
    );
    await sql.unsafe(`DROP ROLE ${role}`);
  });

  test("a state that was restored elsewhere or failed over lets older revisions expire", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await (async () => {
      await using store = await open();
      await store.create(key("a"), object("a"), signal);
    })();
    await (await open())[Symbol.asyncDispose]();
    assert.equal(Number((await sql`SELECT head FROM meta`)[0]?.["head"]), 2);
    await sql`UPDATE meta SET timeline = timeline + 1`;
    await using store = await open();
    const { head, floor } = await store.bounds(signal);
    assert.deepEqual([floor, head > 1_000_000_000], [head, true]);
    await assert.rejects(store.watch(everywhere, { from: 2 }, signal), { code: "Expired" });
  });
});
