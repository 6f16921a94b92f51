// What only PostgreSQL can show: migration, wake-ups, lost connections, plans, and faults inside a batch.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres, startThrowawayPostgres } from "@keelson/database/testing";
import { systemClock } from "@keelson/base";
import { RecordingLog, RecordingMetrics } from "@keelson/base/testing";
import postgres, { type Sql } from "postgres";
import type { ScanRequest, Write } from "../backend.ts";
import { Body } from "../body.ts";
import { toColumns } from "../columns.ts";
import { SchemaMismatch, Unavailable } from "../errors.ts";
import { Store } from "../store.ts";
import { dump, everywhere, key, kind, object, signal, summary, take } from "../testing/bed.ts";
import { PostgresProxy } from "../testing/postgres-proxy.ts";
import { PostgresBackend, type PostgresOptions } from "./backend.ts";
import { migratePostgres, schemaVersion } from "./migrate.ts";
import { statementsOf } from "./statements.ts";

interface Database extends AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  readonly open: (options?: Partial<PostgresOptions>) => Promise<Store>;
}

/** A migrated database of its own on the shared server. */
async function database({ isMigrated = true } = {}): Promise<Database> {
  const server = await sharedThrowawayPostgres("embedded");
  const made = await server.createDatabase();
  const { url } = made;
  if (isMigrated) await migratePostgres({ url, schema: "ark" });
  const sql = postgres(url, {
    max: 1,
    onnotice: () => undefined,
    connection: { search_path: "ark" },
  });
  return {
    url,
    sql,
    async open(options = {}) {
      const backend = await PostgresBackend.open({ url, clock: systemClock, ...options }, signal);
      return Store.open({ backend, limits: { compactionEveryMs: undefined } }, signal);
    },
    async [Symbol.asyncDispose]() {
      await sql.end();
      await made[Symbol.asyncDispose]();
    },
  };
}

/** Waits for a fact. */
async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = systemClock.monotonic() + 30_000;
  while (!(await fact())) {
    if (systemClock.monotonic() > deadline) throw new Error("it never came true");
    await systemClock.sleep(5, signal);
  }
}

suite("PostgreSQL backend", () => {
  suite("migration", () => {
    test("a database without our tables is refused, with the command that helps", async () => {
      await using bare = await database({ isMigrated: false });
      await assert.rejects(
        bare.open(),
        (error) =>
          error instanceof SchemaMismatch && error.message.includes("keelson apiserver migrate"),
      );
    });

    test("of ten that migrate at once one does the work", async () => {
      await using bare = await database({ isMigrated: false });
      const { url } = bare;
      const versions = await Promise.all(
        Array.from({ length: 10 }, () => migratePostgres({ url, schema: "ark" })),
      );
      assert.deepEqual(new Set(versions), new Set([schemaVersion]));
      await using store = await bare.open();
      assert.equal(await store.head(signal), 1);
    });

    test("an older schema is refused, one step newer is served, two are refused", async () => {
      await using parts = await database();
      const { sql, open } = parts;
      const at = async (version: number): Promise<string> => {
        await sql`UPDATE meta SET schema_version = ${version}`;
        try {
          await (await open())[Symbol.asyncDispose]();
          return "served";
        } catch (error) {
          return (error as { code: string }).code;
        }
      };
      assert.deepEqual(
        [
          await at(schemaVersion - 1),
          await at(schemaVersion),
          await at(schemaVersion + 1),
          await at(schemaVersion + 2),
        ],
        ["SchemaMismatch", "served", "served", "SchemaMismatch"],
      );
    });

    test("migrating a database of a newer version is refused", async () => {
      await using parts = await database();
      const { sql, url } = parts;
      await sql`UPDATE meta SET schema_version = 99`;
      await assert.rejects(migratePostgres({ url, schema: "ark" }), SchemaMismatch);
    });

    test("the server needs no more than its role was granted", async () => {
      await using parts = await database();
      const { sql, url } = parts;
      const role = `server_${process.pid}`;
      await sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
      await migratePostgres({ url, schema: "ark", serverRole: role });
      const own = new URL(url);
      own.username = role;
      own.password = "secret";
      await (async () => {
        const backend = await PostgresBackend.open({ url: own.href, clock: systemClock }, signal);
        await using store = await Store.open({ backend }, signal);
        await store.create(key("a"), object("a"), signal);
        await store.compact(2, signal);
        assert.equal((await store.list(everywhere, {}, signal)).items.length, 1);
      })();
      await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    });

    test("a shared database is left alone outside our schema", async () => {
      await using parts = await database();
      const { sql, open } = parts;
      await using store = await open();
      await store.create(key("a"), object("a"), signal);
      const others =
        await sql`SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public'`;
      assert.deepEqual([...others], []);
      const slots = await sql`SELECT slot_name FROM pg_replication_slots`;
      const publications = await sql`SELECT pubname FROM pg_publication`;
      assert.deepEqual([[...slots], [...publications]], [[], []]);
    });
  });

  suite("a batch", () => {
    test("whichever of its statements fails in the database, the tables are as before", async () => {
      await using parts = await database();
      const { sql, open } = parts;
      await using store = await open();
      await store.create(key("a"), object("a", { uid: "u" }), signal);
      await store.create(key("b"), object("b"), signal);
      await plantFaults(sql);
      const bed = {
        open,
        sql: async (text: string) => sql.unsafe(text),
        [Symbol.asyncDispose]: async () => undefined,
      };
      const before = await dump(bed);
      let failures = 0;
      for (let step = 1; ; step += 1) {
        assert.ok(step < 50, "the batch never gets through");
        await sql`SELECT setval('fault_step', 1, false)`;
        await sql`UPDATE fault SET at = ${step}`;
        const results = await Promise.allSettled([
          store.create(key("new"), object("new"), signal),
          store.update(
            key("a"),
            { body: object("a", { uid: "u", spec: { n: 1 } }), expect: { revision: 2 } },
            signal,
          ),
          store.delete(key("b"), {}, signal),
        ]);
        if (results.every(({ status }) => status === "fulfilled")) break;
        failures += 1;
        assert.ok(
          results.every(
            (result) => result.status === "rejected" && result.reason instanceof Unavailable,
          ),
        );
        assert.deepEqual(await dump(bed), before, `after failure of statement ${step}`);
      }
      assert.ok(failures >= 5, `${failures} statements were made to fail`);
      assert.equal(await store.head(signal), 6);
    });

    const lone: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
      create: (store) => store.create(key("new"), object("new"), signal),
      update: (store) => {
        const body = object("a", { uid: "u", spec: { n: 1 } });
        return store.update(key("a"), { body, expect: { revision: 2 } }, signal);
      },
      delete: (store) => store.delete(key("a"), {}, signal),
    };
    for (const [name, operate] of Object.entries(lone)) {
      test(`a lone ${name}: whichever of its statements fails in the database, the tables are as before`, async () => {
        await using parts = await database();
        const { sql, open } = parts;
        await using store = await open();
        await store.create(key("a"), object("a", { uid: "u" }), signal);
        await plantFaults(sql);
        const bed = {
          open,
          sql: async (text: string) => sql.unsafe(text),
          [Symbol.asyncDispose]: async () => undefined,
        };
        const before = await dump(bed);
        let failures = 0;
        for (let step = 1; ; step += 1) {
          assert.ok(step < 50, "the write never gets through");
          await sql`SELECT setval('fault_step', 1, false)`;
          await sql`UPDATE fault SET at = ${step}`;
          const failure = await operate(store).then(
            () => undefined,
            (error: unknown) => error,
          );
          if (failure === undefined) break;
          failures += 1;
          assert.ok(failure instanceof Unavailable);
          assert.deepEqual(await dump(bed), before, `after failure of statement ${step}`);
        }
        assert.ok(failures >= 4, `${failures} statements were made to fail`);
        assert.equal(await store.head(signal), 3);
      });
    }

    test("it sends one notification of at most 32 bytes, however many writes it holds", async () => {
      await using parts = await database();
      const { url, open } = parts;
      const payloads: string[] = [];
      const listener = postgres(url, { max: 1 });
      await listener.listen("ark_resources", (payload) => payloads.push(payload));
      await using store = await open();
      await Promise.all(
        Array.from({ length: 64 }, (_, n) => store.create(key(`n${n}`), object(`n${n}`), signal)),
      );
      await store.create(key("last"), object("last"), signal);
      await until(() => payloads.includes("66"));
      const announcements = payloads.filter((payload) => !payload.startsWith("probe"));
      assert.ok(announcements.length <= 4, announcements.join());
      assert.ok(payloads.every((payload) => Buffer.byteLength(payload) <= 32));
      await listener.end();
    });

    test("what jsonb cannot hold leaves the derived columns empty, and the object whole", async () => {
      await using parts = await database();
      const { sql, open } = parts;
      await using store = await open();
      const bodies = { nul: "a\0b", half: "\ud800", plain: "\\u0000 \\ud800" };
      for (const [name, text] of Object.entries(bodies))
        await store.create(
          key(name),
          object(name, { spec: { text }, labels: { app: "x" } }),
          signal,
        );
      const rows = await sql`SELECT name, spec IS NULL AS empty FROM resources ORDER BY name`;
      assert.deepEqual(
        [...rows].map((row) => ({ ...row })),
        [
          { name: "half", empty: true },
          { name: "nul", empty: true },
          { name: "plain", empty: false },
        ],
      );
      const selector = { labels: [{ key: "app", operator: "In" as const, values: ["x"] }] };
      assert.equal((await store.list(everywhere, { selector }, signal)).items.length, 3);
      assert.deepEqual((await store.get(key("nul"), signal)).body.value["spec"], {
        text: bodies.nul,
      });
    });

    test("a body that is almost too odd for jsonb is stored all the same", async () => {
      await using parts = await database();
      const { open } = parts;
      await using store = await open();
      const texts = [
        `{"n":1${"0".repeat(400)}}`,
        '{"n":1e99999}',
        '{"n":1e-99999}',
        `{"n":${"9".repeat(200_000)}}`,
        `{"n":0.${"1".repeat(20_000)}}`,
      ];
      for (const [index, text] of texts.entries()) {
        const name = `n${index}`;
        const body = Body.parse(`{"metadata":{"name":"${name}","uid":"${name}"},"spec":${text}}`);
        await store.create(key(name), body, signal);
        assert.equal((await store.get(key(name), signal)).body.text, body.text);
      }
    });
  });

  suite("wake-ups", () => {
    test("a connection that listens and is terminated is made again; nothing is lost meanwhile", async () => {
      await using parts = await database();
      const { sql, open } = parts;
      const metrics = new RecordingMetrics();
      await using one = await open();
      await using two = await open({ metrics });
      using watch = await two.watch(everywhere, { from: 1 }, signal);
      await until(() => metrics.value("keelson_notify_degraded") === 0);
      const ended = await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query ILIKE 'listen%'`;
      assert.equal(ended.length, 2);
      for (let n = 0; n < 20; n += 1) await one.create(key(`n${n}`), object(`n${n}`), signal);
      assert.deepEqual(
        (await take(watch, 20)).map(({ revision }) => revision),
        Array.from({ length: 20 }, (_, n) => n + 2),
      );
      await until(() => metrics.value("keelson_notify_reconnects_total") === 1);
      await until(() => metrics.value("keelson_notify_degraded") === 0);
      assert.equal(metrics.value("keelson_notify_connected"), 1);
    });

    test("behind something that swallows notifications the head is polled, and the metric says so", async () => {
      await using parts = await database();
      const { url, open } = parts;
      await using proxy = await PostgresProxy.start(url);
      const metrics = new RecordingMetrics();
      const log = new RecordingLog();
      await using one = await open();
      await using two = await open({ url: proxy.url, metrics, log });
      await until(() => metrics.value("keelson_notify_degraded") === 0);
      proxy.swallowsNotifications = true;
      proxy.cut();
      await until(() => metrics.value("keelson_notify_degraded") === 1);
      using watch = await two.watch(everywhere, { from: 1 }, signal);
      for (const [n, name] of ["a", "b", "c"].entries()) {
        await one.create(key(name), object(name), signal);
        assert.deepEqual((await take(watch, 1)).map(summary), [`ADDED ${name} ${n + 2}`]);
      }
      assert.equal(metrics.value("keelson_notify_degraded"), 1);
      assert.ok(log.messages("warn").includes("wake-ups do not arrive; polling instead"));
    });
  });

  suite("failures", () => {
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
      await using parts = await database();
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
      await using parts = await database();
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
      await using parts = await database();
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
      assert.deepEqual((await take(watch, 3)).map(summary), [
        "ADDED a 2",
        "ADDED b 3",
        "ADDED c 4",
      ]);
      assert.equal((await store.list(everywhere, {}, signal)).items.length, 3);
    });

    test("acknowledged means on disk, whatever the role has set", async () => {
      await using parts = await database();
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
      await using parts = await database();
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
      await using parts = await database();
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
      await using parts = await database();
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
      await using parts = await database();
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

  suite("plans", () => {
    const request: ScanRequest = {
      scope: everywhere,
      after: { namespace: "default", name: "n100" },
      walk: 50,
      at: undefined,
      labels: [],
      name: undefined,
    };
    const statements = statementsOf("ark");
    const hot: readonly (readonly [string, (sql: Sql) => unknown, RegExp])[] = [
      ["get", (sql) => statements.selectObject(sql, key("n7")), /resources_pkey/],
      ["page", (sql) => statements.scanNow(sql, request), /resources_pkey/],
      [
        "page of a namespace",
        (sql) => statements.scanNow(sql, { ...request, scope: { kind, namespace: "default" } }),
        /resources_pkey/,
      ],
      [
        "page of the past",
        (sql) => statements.scanAt(sql, request, 4000),
        /changes_deleted[\s\S]*changes_key|changes_key[\s\S]*changes_deleted/,
      ],
      [
        "log",
        (sql) => statements.selectLog(sql, 4000, { entries: 100, text: 1e6 }),
        /changes_pkey/,
      ],
      ["history", (sql) => statements.selectHistory(sql, key("n7"), undefined, 10), /changes_key/],
    ];
    test("hot statements use their indexes and read no table from end to end", async () => {
      await using parts = await database();
      const { sql, open } = parts;
      await using store = await open();
      await Promise.all(
        Array.from({ length: 3000 }, (_, n) => store.create(key(`n${n}`), object(`n${n}`), signal)),
      );
      await Promise.all(
        Array.from({ length: 1500 }, (_, n) => store.delete(key(`n${2 * n}`), {}, signal)),
      );
      await sql`ANALYZE`;
      for (const [what, statement, index] of hot) {
        const [row] = await sql`EXPLAIN (FORMAT JSON) ${statement(sql) as never}`;
        const plan = JSON.stringify(row?.["QUERY PLAN"]);
        assert.match(plan, index, what);
        assert.doesNotMatch(
          plan,
          /"Node Type":"Seq Scan"[^}]*"Relation Name":"(resources|changes)"/,
          what,
        );
      }
    });

    test("a batch finds its objects by their key, whatever the size of the tables was when it was planned", async () => {
      await using parts = await database();
      const { sql, url } = parts;
      const backend = await PostgresBackend.open({ url, clock: systemClock }, signal);
      await using _closing = backend;
      const write = (name: string): Write => {
        const body = object(name);
        return { type: "create", key: key(name), body, columns: toColumns(key(name), body) };
      };
      for (let batch = 0; batch < 20; batch += 1)
        await backend.commit(Array.from({ length: 100 }, (_, n) => write(`b${batch}-${n}`)));
      await until(async () => {
        const [before] =
          await sql`SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'resources' AND schemaname = 'ark'`;
        return before !== undefined;
      });
      await sql`SELECT pg_stat_force_next_flush()`;
      const [stats] =
        await sql`SELECT coalesce(seq_tup_read, 0) AS read FROM pg_stat_user_tables WHERE relname = 'resources' AND schemaname = 'ark'`;
      assert.equal(Number(stats?.["read"]), 0);
    });
  });
});

/** Triggers that count the statements on our tables, and fail at the one that `fault` names. */
async function plantFaults(sql: Sql): Promise<void> {
  await sql.unsafe(`
    CREATE TABLE fault (at integer NOT NULL);
    INSERT INTO fault VALUES (0);
    CREATE SEQUENCE fault_step;
    CREATE FUNCTION maybe_fail() RETURNS trigger LANGUAGE plpgsql SET search_path = ark AS $$
    BEGIN
      IF nextval('fault_step') = (SELECT at FROM fault) THEN
        RAISE EXCEPTION 'planted' USING ERRCODE = '58000';
      END IF;
      RETURN NULL;
    END $$;`);
  for (const table of ["resources", "changes", "counts", "meta"]) {
    for (const event of ["INSERT", "UPDATE", "DELETE"]) {
      for (const time of ["BEFORE", "AFTER"]) {
        await sql.unsafe(
          `CREATE TRIGGER fault_${time}_${event} ${time} ${event} ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION maybe_fail()`,
        );
      }
    }
  }
}
