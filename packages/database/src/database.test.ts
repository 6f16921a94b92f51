import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { inspect } from "node:util";
import { ManualClock, RecordingMetrics, until } from "@keelson/base/testing";
import { openDatabase, type DatabaseOptions, type StatementPoint } from "./database.ts";
import {
  CheckViolation,
  DatabaseBusy,
  DatabaseError,
  DatabaseTimeout,
  DatabaseUnavailable,
  ForeignKeyViolation,
  PermissionDenied,
  StatementFailed,
  TransactionConflict,
  UniqueViolation,
  ValueRefused,
  isTransient,
} from "./errors.ts";
import { statement } from "./sql/statement.ts";
import { eachPostgres } from "./testing/each-postgres.ts";
import { patience } from "./testing/patience.ts";
import { sharedThrowawayPostgres, startThrowawayPostgres } from "./testing/throwaway-postgres.ts";

const one = statement<undefined, { one: number }>("one", (sql) => sql`SELECT 1 AS one`);
const sleep = statement<number>("sleep", (sql, seconds) => sql`SELECT pg_sleep(${seconds})`);
const backend = statement<undefined, { pid: number }>(
  "backend",
  (sql) => sql`SELECT pg_backend_pid() AS pid`,
);
const terminate = statement<number>(
  "terminate",
  (sql, pid) => sql`SELECT pg_terminate_backend(${pid})`,
);
const isSleeping = statement<number>(
  "isSleeping",
  (sql, pid) => sql`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`,
);
const insert = statement<number>("insert", (sql, id) => sql`INSERT INTO kept VALUES (${id})`);
const kept = statement<undefined, { id: number }>(
  "kept",
  (sql) => sql`SELECT id FROM kept ORDER BY id`,
);
const script = (text: string) =>
  statement<undefined>("script", (sql) => sql.unsafe<object[]>(text).simple());

const never = new AbortController().signal;

eachPostgres("database", (server) => {
  /** A pool on a fresh database with the table `kept`. */
  async function fresh(options: Partial<DatabaseOptions> = {}) {
    const stack = new AsyncDisposableStack();
    const { url } = stack.use(await (await server()).createDatabase());
    const database = stack.use(openDatabase({ url, name: "test", ...patience, ...options }));
    await database.run(
      script("CREATE TABLE kept (id integer PRIMARY KEY CHECK (id > 0))"),
      undefined,
      never,
    );
    return { database, url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  test("a statement gives its rows, and its time to the metrics", async () => {
    const metrics = new RecordingMetrics();
    await using it = await fresh({ metrics });
    assert.deepEqual([...(await it.database.run(one, undefined, never))], [{ one: 1 }]);
    assert.equal(
      metrics.value("keelson_database_statement_seconds", { statement: "one", result: "done" }),
      1,
    );
    assert.equal(
      metrics.value("keelson_database_pool_connections", { pool: "test", state: "idle" }),
      1,
    );
  });

  test("each statement is told of with whose it was, also one that fails", async () => {
    const runs: unknown[] = [];
    const mine = new AbortController().signal;
    await using it = await fresh({
      onRun: ({ elapsedMs, ...run }, signal) => {
        assert.ok(elapsedMs >= 0);
        if (signal === mine) runs.push(run);
      },
    });
    await it.database.run(one, undefined, never);
    await it.database.run(one, undefined, mine);
    await assert.rejects(
      it.database.transaction(async (sql) => {
        await sql.run(insert, 1);
        await sql.run(insert, -1);
      }, mine),
    );
    await it.database.transaction((sql) => sql.run(insert, 2), mine);
    assert.deepEqual(runs, [
      { pool: "test", statement: "one", result: "done" },
      { pool: "test", statement: "insert", result: "done" },
      { pool: "test", statement: "insert", result: "failed" },
      { pool: "test", statement: "insert", result: "done" },
      { pool: "test", statement: "commit", result: "done" },
    ]);
  });

  test("a transaction commits whole or not at all, and calls back only when it has", async () => {
    await using it = await fresh();
    const called: string[] = [];
    await it.database.transaction(async (sql) => {
      sql.afterCommit(() => called.push("committed"));
      await sql.run(insert, 1);
      await sql.run(insert, 2);
      assert.deepEqual(called, []);
    }, never);
    const failure = new Error("no");
    await assert.rejects(
      it.database.transaction(async (sql) => {
        sql.afterCommit(() => called.push("rolled back"));
        await sql.run(insert, 3);
        throw failure;
      }, never),
      failure,
    );
    assert.deepEqual([...(await it.database.run(kept, undefined, never))], [{ id: 1 }, { id: 2 }]);
    assert.deepEqual(called, ["committed"]);
  });

  test("a statement that failed dooms its transaction, even when the failure is caught", async () => {
    await using it = await fresh();
    await assert.rejects(
      it.database.transaction(async (sql) => {
        await sql.run(insert, 1);
        await sql.run(insert, 1).catch(() => {});
      }, never),
      UniqueViolation,
    );
    assert.deepEqual([...(await it.database.run(kept, undefined, never))], []);
  });

  test("an abort between two statements rolls back", async () => {
    await using it = await fresh();
    const controller = new AbortController();
    const reason = new Error("enough");
    await assert.rejects(
      it.database.transaction(async (sql) => {
        await sql.run(insert, 1);
        controller.abort(reason);
        await sql.run(insert, 2);
      }, controller.signal),
      reason,
    );
    assert.deepEqual([...(await it.database.run(kept, undefined, never))], []);
  });

  test("a transaction is closed to latecomers", async () => {
    await using it = await fresh();
    const sql = await it.database.transaction(async (sql) => sql, never);
    await assert.rejects(sql.run(insert, 1), TypeError);
  });

  test("errors have names", async () => {
    await using it = await fresh();
    await it.database.run(insert, 1, never);
    await it.database.run(
      script("CREATE TABLE child (id integer CONSTRAINT parent REFERENCES kept)"),
      undefined,
      never,
    );
    const cases: readonly (readonly [
      text: string,
      type: new (...args: never[]) => DatabaseError,
    ])[] = [
      ["INSERT INTO kept VALUES (1)", UniqueViolation],
      ["INSERT INTO kept VALUES (-1)", CheckViolation],
      ["INSERT INTO kept VALUES (NULL)", CheckViolation],
      ["INSERT INTO child VALUES (7)", ForeignKeyViolation],
      ["SELECT 'x'::integer", ValueRefused],
      [`SELECT '{"a":"\\u0000"}'::jsonb`, ValueRefused],
      ["SELECT nothing", StatementFailed],
      ["DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$", TransactionConflict],
      ["DO $$ BEGIN RAISE SQLSTATE '57P01'; END $$", DatabaseUnavailable],
      ["DO $$ BEGIN RAISE SQLSTATE '42501' USING MESSAGE = 'not yours'; END $$", PermissionDenied],
      ["DO $$ BEGIN RAISE SQLSTATE '53100'; END $$", DatabaseUnavailable],
      ["DO $$ BEGIN RAISE SQLSTATE '58030'; END $$", DatabaseUnavailable],
      ["DO $$ BEGIN RAISE SQLSTATE '54000'; END $$", StatementFailed],
      ["DO $$ BEGIN RAISE SQLSTATE '55000'; END $$", StatementFailed],
      [
        "DO $$ BEGIN RAISE SQLSTATE '28P01' USING MESSAGE = 'nobody knows you'; END $$",
        DatabaseUnavailable,
      ],
    ];
    for (const [text, type] of cases) {
      const error = await it.database
        .run(script(text), undefined, never)
        .catch((error: unknown) => error);
      assert.ok(error instanceof type, `${text}: ${String(error)}`);
      assert.equal(error.statement, "script");
      assert.doesNotMatch(error.message, /[0-9]{2}[0-9A-Z]{3}\b/);
    }
  });

  test("what an error carries quotes no row and no parameter", async () => {
    await using it = await fresh();
    await it.database.run(
      script("CREATE TABLE vault (word text, weight integer CHECK (weight > 0))"),
      undefined,
      never,
    );
    const store = statement<string>(
      "store",
      (sql, word) => sql`INSERT INTO vault VALUES (${word}, -1)`,
    );
    const read = statement<string>(
      "read",
      (sql, word) => sql`SELECT ${`{"word":"${word}","weight":heavy}`}::text::jsonb`,
    );
    const count = statement<string>("count", (sql, word) => sql`SELECT ${word}::integer`);
    for (const asked of [store, read, count]) {
      const error = await it.database.run(asked, "sesame", never).catch((error: unknown) => error);
      assert.ok(error instanceof DatabaseError);
      assert.doesNotMatch(inspect(error, { depth: null }), /sesame/);
    }
  });

  test("arrays go there and come back as they were", async () => {
    await using it = await fresh();
    const at = new Date("2026-02-03T04:05:06.789Z");
    const given = {
      // The driver takes an array for what its first element is, where that is no text and no number.
      boolean: [null, true, false],
      name: ["a"],
      smallint: [1, -2],
      integer: [1, null],
      text: ["", 'a "b" \\ {c, d}', "NULL", null, "ä"],
      varchar: ["a,b"],
      bigint: ["9007199254740993"],
      float8: [0.1, -1e300],
      oid: [25],
      timestamptz: [null, at],
      uuid: ["0f8c2a1e-6f3b-4e0e-9b59-6d6a3f7f4b11"],
      jsonb: [null, { a: ['"', null] }],
    };
    for (const [type, values] of Object.entries(given)) {
      const echo = statement<readonly unknown[], { values: unknown }>("echo", (sql, values) =>
        sql.unsafe(`SELECT $1::${type}[] AS values`, [values as never]),
      );
      assert.deepEqual([...(await it.database.run(echo, values, never))], [{ values }], type);
      assert.deepEqual([...(await it.database.run(echo, [], never))], [{ values: [] }], type);
    }
  });

  test("a statement past its deadline is cancelled, and the connection serves on", async () => {
    // The time that the server has for it stands still: a busy one may need long.
    const clock = new ManualClock();
    await using it = await fresh({ connectionsMax: 1, clock });
    await using other = openDatabase({ url: it.url, name: "other", ...patience });
    const [before] = await it.database.run(backend, undefined, never);
    const slow = { ...sleep, deadlineMs: 50 };
    const late = assert.rejects(it.database.run(slow, 300, never), DatabaseTimeout);
    await until(async () => {
      const [row] = await other.run(isSleeping, before?.pid ?? 0, never);
      return row !== undefined;
    }, "the statement runs");
    await clock.advance(50);
    await late;
    const [after] = await it.database.run(backend, undefined, never);
    assert.deepEqual(after, before);
  });

  test("a call waits for a connection until its deadline or its signal, and not behind too many", async () => {
    const held = Promise.withResolvers<void>();
    const running = Promise.withResolvers<void>();
    await using it = await fresh({ connectionsMax: 1, waitersMax: 1 });
    const holder = it.database.transaction(async () => {
      running.resolve();
      await held.promise;
    }, never);
    await running.promise;

    const late = { ...one, deadlineMs: 20 };
    await assert.rejects(it.database.run(late, undefined, never), DatabaseTimeout);
    const controller = new AbortController();
    const waiting = it.database.run(one, undefined, controller.signal);
    await assert.rejects(it.database.run(one, undefined, never), DatabaseBusy);
    const reason = new Error("enough");
    controller.abort(reason);
    await assert.rejects(waiting, reason);

    const served = it.database.run(one, undefined, never);
    held.resolve();
    await holder;
    assert.equal((await served).length, 1);
  });

  test("a connection lost within a transaction ends it, and nothing of it is committed", async () => {
    await using it = await fresh();
    const lost = it.database.transaction(async (sql) => {
      await sql.run(insert, 1);
      const [own] = await sql.run(backend, undefined);
      await it.database.run(terminate, own?.pid ?? 0, never);
      await sql.run(insert, 2);
    }, never);
    await assert.rejects(
      lost,
      (error) => error instanceof DatabaseUnavailable && isTransient(error),
    );
    assert.deepEqual([...(await it.database.run(kept, undefined, never))], []);
  });

  test("a connection that was lost while idle is replaced", async () => {
    await using it = await fresh({ connectionsMax: 2 });
    const pids = await Promise.all([1, 2].map(() => it.database.run(backend, undefined, never)));
    const { url } = it;
    await using other = openDatabase({ url, name: "other", ...patience });
    for (const [row] of pids) await other.run(terminate, row?.pid ?? 0, never);
    // The first call may still meet a connection of which nobody has heard yet that it is lost.
    for (let tries = 0; ; tries++) {
      const outcome = await it.database.run(one, undefined, never).catch((error: unknown) => error);
      if (Array.isArray(outcome)) break;
      assert.ok(outcome instanceof DatabaseUnavailable);
      assert.ok(tries < 2);
    }
  });

  test("a fault at any statement leaves all or nothing", async () => {
    for (const phase of ["before", "after"] as const) {
      for (let n = 1; ; n++) {
        const seen: StatementPoint[] = [];
        let isArmed = false;
        await using it = await fresh({
          onStatement: (point) => {
            if (!isArmed || point.phase !== phase) return;
            seen.push(point);
            if (seen.length === n) throw new DatabaseUnavailable("a fault");
          },
        });
        isArmed = true;
        const outcome = await it.database
          .transaction(async (sql) => {
            await sql.run(insert, 1);
            await sql.run(insert, 2);
          }, never)
          .catch((error: unknown) => error);
        isArmed = false;
        const rows = await it.database.run(kept, undefined, never);
        const names = seen.map(({ statement }) => statement);
        if (outcome === undefined) {
          const sent = ["insert", "insert", "commit"];
          assert.deepEqual(names, phase === "before" ? ["begin", ...sent] : sent);
          assert.equal(rows.length, 2);
          break;
        }
        // After the commit is answered only the answer can be lost, and then the error says so.
        const isUnknown = outcome instanceof DatabaseUnavailable && outcome.isDone === "unknown";
        assert.equal(isUnknown, names.at(-1) === "commit");
        assert.equal(rows.length, phase === "after" && isUnknown ? 2 : 0);
      }
    }
  });
});

suite("database without a server", () => {
  test("a refused connection is transient, and the pool recovers without help", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
    await using database = openDatabase({ url: server.url, name: "test", ...patience });
    assert.equal((await database.run(one, undefined, never)).length, 1);
    await server.stop({ mode: "fast" });
    for (let tries = 0; tries < 3; tries++) {
      await assert.rejects(database.run(one, undefined, never), (error) => isTransient(error));
    }
    await server.start();
    assert.equal((await database.run(one, undefined, never)).length, 1);
  });

  test("a connection that breaks at its first statement is no more than that", async () => {
    using relay = await relayTo(await sharedThrowawayPostgres("embedded"));
    await using database = openDatabase({ url: relay.url, name: "test", ...patience });
    relay.breaksAtStatement();
    await assert.rejects(database.run(one, undefined, never), DatabaseUnavailable);
  });

  test("a statement past its deadline is given up where the server cannot be told to stop", async (t) => {
    using relay = await relayTo(await sharedThrowawayPostgres("embedded"));
    await using database = openDatabase({
      url: relay.url,
      name: "test",
      connectionsMax: 1,
      ...patience,
    });
    await database.run(one, undefined, never);
    relay.refuses();
    // Which would end a process, but not a test whose call is over.
    const uncaught = t.mock.fn();
    process.on("unhandledRejection", uncaught);
    t.after(() => process.off("unhandledRejection", uncaught));
    await assert.rejects(database.run({ ...sleep, deadlineMs: 50 }, 30, never), DatabaseTimeout);
    assert.equal(uncaught.mock.callCount(), 0);
  });

  test("a cancelling that comes too late hits nobody else", async () => {
    const server = await sharedThrowawayPostgres("embedded");
    using relay = await relayTo(server);
    const clock = new ManualClock();
    const pool = { name: "test", connectionsMax: 1, ...patience };
    await using database = openDatabase({ ...pool, url: relay.url, clock });
    await using other = openDatabase({ ...pool, url: server.url });
    const lock = statement<number>("lock", (sql, key) => sql`SELECT pg_advisory_xact_lock(${key})`);
    const waiters = statement<undefined>(
      "waiters",
      (sql) => sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
    );
    const untilItWaits = (): Promise<void> =>
      until(async () => (await other.run(waiters, undefined, never)).length === 1);
    /** Runs `wait` while somebody else has the lock that it asks for. */
    const behind = async (key: number, wait: () => Promise<void>): Promise<void> => {
      await using holder = openDatabase({ ...pool, url: server.url });
      await holder.transaction(async (sql) => {
        await sql.run(lock, key);
        await wait();
      }, never);
    };

    await database.run(one, undefined, never); // It is connected.
    relay.holdsBack();
    let late: Promise<unknown> | undefined;
    await behind(41, async () => {
      late = database.run({ ...lock, deadlineMs: 50 }, 41, never);
      await untilItWaits();
      await clock.advance(50);
      await relay.heldBack;
    });
    await late; // Past its deadline, and done before anybody could stop it.
    relay.passesOn();
    let next: Promise<unknown> | undefined;
    await behind(42, async () => {
      next = database.run(lock, 42, never);
      await untilItWaits();
      relay.letsGo();
      await relay.isOver;
    });
    await next;
  });

  test("a wrong password is waited out, and told", async () => {
    const server = await sharedThrowawayPostgres("embedded");
    const url = new URL(server.url);
    url.password = "another";
    await using database = openDatabase({ url: url.href, name: "test", ...patience });
    await assert.rejects(
      database.run(one, undefined, never),
      (error) =>
        isTransient(error) &&
        /does not let us in: password authentication failed/.test(String(error)),
    );
  });

  test("a database that is closed to all is waited out, and told", async () => {
    const server = await sharedThrowawayPostgres("embedded");
    await using made = await server.createDatabase();
    await using admin = openDatabase({ url: server.url, name: "admin", ...patience });
    await using database = openDatabase({ url: made.url, name: "test", ...patience });
    const allow = (is: boolean) =>
      admin.run(script(`ALTER DATABASE ${made.name} ALLOW_CONNECTIONS ${is}`), undefined, never);
    await allow(false);
    await assert.rejects(
      database.run(one, undefined, never),
      (error) =>
        isTransient(error) && /does not let us in: .*not currently acc/.test(String(error)),
    );
    await allow(true);
    assert.equal((await database.run(one, undefined, never)).length, 1);
  });

  test("a server that has no room for wake-ups is waited out, and told", async () => {
    await using server = await startThrowawayPostgres({
      flavour: "embedded",
      fsync: false,
      settings: { max_notify_queue_pages: "64" },
    });
    await using database = openDatabase({ url: server.url, name: "test", ...patience });
    const flood = script(
      "SELECT pg_notify('news', repeat('x', 7000) || n) FROM generate_series(1, 40) AS n",
    );
    const listener = database.openSession({});
    await listener.run(script("LISTEN news"), undefined, patience.deadlineMs);
    await listener.run(script("BEGIN; SELECT 1"), undefined, patience.deadlineMs);
    await database.run(flood, undefined, never);
    await assert.rejects(
      database.run(flood, undefined, never),
      (error) => isTransient(error) && /no room for wake-ups/.test(String(error)),
    );
    await listener.close({ immediately: true });
    // It looks whether anybody still needs what is there.
    await database.run(script("SELECT pg_notification_queue_usage()"), undefined, never);
    await database.run(flood, undefined, never);
  });

  test("idle connections are closed by the clock", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
    const clock = new ManualClock();
    const metrics = new RecordingMetrics();
    await using database = openDatabase({
      url: server.url,
      name: "test",
      clock,
      metrics,
      idleMs: 60_000,
      ...patience,
    });
    await database.run(one, undefined, never);
    const idle = () =>
      metrics.value("keelson_database_pool_connections", { pool: "test", state: "idle" });
    await clock.advance(59_000);
    assert.equal(idle(), 1);
    await clock.advance(1_000);
    assert.equal(idle(), 0);
    assert.equal((await database.run(one, undefined, never)).length, 1);
  });
});

/** Stands between a pool and its server. */
async function relayTo({ url, port }: { readonly url: string; readonly port: number }) {
  let isBreaking = false;
  let isHolding = false;
  const held = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let letGo: () => void = () => {};
  const relay = createServer((near) => {
    if (isHolding) {
      near.once("data", (bytes) => {
        letGo = () => {
          const far = connect(port, "127.0.0.1", () => far.write(bytes));
          far.on("close", () => (near.destroy(), over.resolve()));
        };
        held.resolve();
      });
      return;
    }
    const far = connect(port, "127.0.0.1");
    const end = (): void => void (near.destroy(), far.destroy());
    near.on("error", end).on("close", end);
    far.on("error", end).on("close", end);
    near.on("data", (bytes) => {
      const isStatement = "PQ".includes(String.fromCharCode(bytes[0] ?? 0));
      if (isBreaking && isStatement) near.resetAndDestroy();
      else far.write(bytes);
    });
    far.pipe(near);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  const through = new URL(url);
  through.port = String((relay.address() as AddressInfo).port);
  return {
    url: through.href,
    /** From now on a connection is reset when it brings a statement. */
    breaksAtStatement: () => void (isBreaking = true),
    /** Takes no more connections; those there are stay. */
    refuses: () => void relay.close(),
    /** What comes by a connection that is new now waits, until it is let go. */
    holdsBack: () => void (isHolding = true),
    heldBack: held.promise,
    passesOn: () => void (isHolding = false),
    letsGo: () => letGo(),
    /** When the server has dealt with it. */
    isOver: over.promise,
    [Symbol.dispose]: () => void relay.close(),
  };
}
