// What a lost, slow or foolish database does to its callers.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres, startThrowawayPostgres } from "@keelson/database/testing";
import { systemClock, type Clock } from "@keelson/base";
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
    await until(() => answers(store));
    assert.equal((await store.list(everywhere, {}, signal)).items.length, 3);
    await store.create(key("d"), object("d"), signal);
    assert.deepEqual((await next).map(summary), ["ADDED d 5"]);
  });

  test("a database that accepts no writes refuses them as Unavailable, shows it, goes on reading and heals", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
    const parts = await freshDatabase(Promise.resolve(server)); // It goes with its server.
    const { sql, url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    await using store = await open({ url: proxy.url });
    const { revision } = await store.create(key("a"), object("a", { uid: "u" }), signal);
    using watch = await store.watch(everywhere, { from: revision }, signal);
    const set = async (value: "on" | "off"): Promise<void> => {
      await sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await sql`SELECT pg_reload_conf()`;
      await until(async () => {
        const [row] = await sql`SELECT current_setting('default_transaction_read_only') AS now`;
        return row?.["now"] === value;
      });
    };

    await set("on");
    const changed = object("a", { uid: "u", spec: { n: 1 } });
    const writes: Readonly<Record<string, () => Promise<unknown>>> = {
      create: () => store.create(key("x"), object("x"), signal),
      update: () => store.update(key("a"), { body: changed, expect: { revision } }, signal),
      delete: () => store.delete(key("a"), {}, signal),
      batch: () => Promise.all(["y", "z"].map((n) => store.create(key(n), object(n), signal))),
      compact: () => store.compact(revision, signal),
      claim: () => store.claim("work", { holder: "us", ttlMs: 1000 }, signal),
      ping: () => store.ping(signal),
    };
    for (const [what, write] of Object.entries(writes)) {
      const failure = await write().then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.ok(failure instanceof Unavailable, `${what}: ${String(failure)}`);
      assert.match(failure.message, /accepts no writes/, what);
    }
    // After a failover the name leads to another server: it is looked up again, and reads go on meanwhile.
    const lists = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 20 }, () => store.list(everywhere, {}, signal)));
    await lists(); // From here on nothing connects for the first time.
    const before = proxy.connections;
    await until(async () => {
      const asking = assert.rejects(store.ping(signal), Unavailable);
      await lists();
      assert.equal((await store.get(key("a"), signal)).revision, revision);
      await asking;
      await assert.rejects(store.create(key("x"), object("x"), signal), Unavailable);
      return proxy.connections >= before + 2;
    });

    await set("off");
    await until(() => answers(store));
    await store.create(key("b"), object("b"), signal);
    assert.deepEqual((await take(watch, 1)).map(summary), [`ADDED b ${revision + 1}`]);
    await store.ping(signal);
  });

  test("a password that was changed is Unavailable with the reason, and asked for at the next connection", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url, open } = parts;
    const role = `rotated_${process.pid}`;
    await sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'first'`);
    await migratePostgres({ url, schema: "ark", serverRole: role });
    const own = new URL(url);
    own.username = role;
    own.password = "";
    const file: { password?: string } = { password: "first" };
    const password = async (): Promise<string> => {
      if (file.password === undefined) throw new Error("there is no such file");
      return file.password;
    };
    await (async () => {
      await using store = await open({ url: own.href, password });
      await store.create(key("a"), object("a"), signal);
      const rotate = async (): Promise<void> => {
        await sql.unsafe(`ALTER ROLE ${role} PASSWORD 'second'`);
        await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ${role}`;
      };
      const refused = async (): Promise<void> =>
        until(async () => {
          const calls = [store.ping(signal), store.ping(signal), store.get(key("a"), signal)];
          const failures = await Promise.all(
            calls.map((call) =>
              call.then(
                () => undefined,
                (error: unknown) => error,
              ),
            ),
          );
          return failures.every(
            (error) => error instanceof Unavailable && /does not let us in/.test(error.message),
          );
        });
      await rotate();
      await refused();
      delete file.password;
      await refused();
      file.password = "second";
      await until(() => answers(store));
      await store.create(key("b"), object("b"), signal);
    })();
    await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  test("a server that has become a standby is not believed, and a promoted one is", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
    const parts = await freshDatabase(Promise.resolve(server)); // It goes with its server.
    const { sql, open } = parts;
    await using store = await open();
    await store.create(key("a"), object("a"), signal);
    await server.stop({ mode: "fast" });
    await writeFile(join(server.dataDir, "standby.signal"), "");
    const promoted = server.start(); // It calls itself ready once it takes writes.
    promoted.catch(() => undefined); // Told below.
    await until(async () => {
      const [row] = await sql`SELECT pg_is_in_recovery() AS waits`.catch(() => []);
      return row?.["waits"] === true;
    });
    // Nor is it read: what it has may be old (S7).
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => store.ping(signal),
      () => store.get(key("a"), signal),
      () => store.list(everywhere, {}, signal),
      () => store.create(key("x"), object("x"), signal),
    ];
    for (const attempt of attempts)
      await until(async () => {
        const failure = await attempt().then(
          () => undefined,
          (error: unknown) => error,
        );
        assert.ok(failure instanceof Unavailable, String(failure));
        return /accepts no writes: it is a standby/.test(failure.message);
      });

    await sql`SELECT pg_promote()`;
    await promoted;
    await until(() => answers(store));
    await store.create(key("b"), object("b"), signal);
    assert.equal((await store.list(everywhere, {}, signal)).items.length, 2);
  });

  test("a peer that has vanished ends each call in its time, and a new connection heals", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    await using store = await inShortTime(300, (calls) => open({ url: proxy.url, ...calls }));
    await untilCreated(store, "a");
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
    const found = await untilAnswered(() => store.get(key("a"), signal));
    assert.equal(found.key.name, "a");
  });

  test("callers of little patience do not keep a dead connection alive", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    await using store = await inShortTime(1000, (calls) => open({ url: proxy.url, ...calls }));
    await until(() => answers(store));
    proxy.isStalled = true;
    const stalled = proxy.connections;
    await until(async () => {
      await assert.rejects(store.ping(systemClock.timeout(50)));
      return proxy.connections > stalled;
    });
    proxy.isStalled = false;
    await until(() => answers(store));
  });

  test("an answer that is lost leaves the write done and announced once, or not done", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    await using store = await inShortTime(500, (calls) => open({ url: proxy.url, ...calls }));
    using watch = await untilAnswered(() => store.watch(everywhere, { from: 1 }, signal));
    await untilCreated(store, "a");
    proxy.dropsAnswers = true;
    await assert.rejects(store.create(key("b"), object("b"), signal), Unavailable);
    proxy.dropsAnswers = false;
    await untilCreated(store, "c");
    assert.deepEqual((await take(watch, 3)).map(summary), ["ADDED a 2", "ADDED b 3", "ADDED c 4"]);
    const { items } = await untilAnswered(() => store.list(everywhere, {}, signal));
    assert.equal(items.length, 3);
  });

  test("what waited in vain for the counter waits no more, and does not happen later", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await using store = await inShortTime(1000, open);
    await untilCreated(store, "a");
    const inVain: readonly (() => Promise<unknown>)[] = [
      () => store.create(key("b"), object("b"), signal),
      () => Promise.all(["c", "d"].map((name) => store.create(key(name), object(name), signal))),
      () => store.compact(2, signal),
      () => store.leap(signal),
      () => store.create(key("e"), object("e"), signal),
    ];
    // As a session would that was left in the middle of its transaction.
    await sql.begin(async (sql) => {
      await sql`SELECT FROM ark.meta FOR UPDATE`;
      for (const attempt of inVain) await assert.rejects(attempt(), Unavailable);
      await until(async () => {
        await sql`SELECT pg_stat_clear_snapshot()`;
        const waiting = await sql`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        return waiting.length === 0;
      }, "nobody waits for the counter");
    });
    await untilCreated(store, "z");
    const { items } = await untilAnswered(() => store.list(everywhere, {}, signal));
    assert.deepEqual(
      items.map((item) => item.key.name),
      ["a", "z"],
    );
    const bounds = await untilAnswered(() => store.bounds(signal));
    assert.deepEqual(bounds, { head: 3, floor: 1 });
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

/** A store whose calls have little time, once it is open: that alone may take a busy machine longer. */
async function inShortTime(
  callMsMax: number,
  open: (calls: { readonly callMsMax: number; readonly clock: Clock }) => Promise<Store>,
): Promise<Store> {
  let isOpen = false;
  const timeOf = (ms: number): number => (ms === callMsMax && !isOpen ? 60_000 : ms);
  const clock: Clock = { ...systemClock, after: (ms, run) => systemClock.after(timeOf(ms), run) };
  const store = await open({ callMsMax, clock });
  isOpen = true;
  return store;
}

/** An answer that comes too late is as good. */
async function untilCreated(store: Store, name: string): Promise<void> {
  await until(() =>
    store.create(key(name), object(name), signal).then(
      () => true,
      (error: { readonly code?: string }) => error.code === "AlreadyExists",
    ),
  );
}

/** Asks until it is answered in time. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  const answer = Promise.withResolvers<T>();
  await until(() =>
    ask().then(
      (value) => {
        answer.resolve(value);
        return true;
      },
      () => false,
    ),
  );
  return await answer.promise;
}

function answers(store: Store): Promise<boolean> {
  return store.ping(signal).then(
    () => true,
    () => false,
  );
}
