// What only PostgreSQL can show of a batch: faults inside it, its notification, bodies that jsonb cannot hold.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import type { KnownRows } from "../backend.ts";
import { Body } from "../body.ts";
import { toColumns } from "../columns.ts";
import { Unavailable } from "../errors.ts";
import type { Store } from "../store.ts";
import { dump, everywhere, key, object, signal } from "../testing/bed.ts";
import { freshDatabase } from "../testing/postgres-bed.ts";
import postgres, { type Sql } from "postgres";
import { PostgresBackend } from "./backend.ts";

suite("a batch on PostgreSQL", () => {
  test("whichever of its statements fails in the database, the tables are as before", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
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

  test("a cut: whichever of its statements fails in the database, nothing is cut", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await using store = await open();
    await store.create(key("a"), object("a"), signal);
    await store.delete(key("a"), {}, signal);
    await plantFaults(sql);
    const before = await store.bounds(signal);
    let failures = 0;
    for (let step = 1; ; step += 1) {
      assert.ok(step < 50, "the cut never gets through");
      await sql`SELECT setval('fault_step', 1, false)`;
      await sql`UPDATE fault SET at = ${step}`;
      const failure = await store.compact(3, signal).catch((error: unknown) => error);
      if (failure === undefined) break;
      failures += 1;
      assert.ok(failure instanceof Unavailable);
      assert.deepEqual(await store.bounds(signal), before, `after failure of statement ${step}`);
    }
    assert.ok(failures >= 6, `${failures} statements were made to fail`);
    assert.deepEqual(await store.bounds(signal), { head: before.head + 1, floor: 3 });
    assert.deepEqual([...(await sql`SELECT namespace FROM counts`)], []);
  });

  test("a cut that has waited for a write keeps the count that the write has made anew", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await using store = await open();
    await store.create(key("a"), object("a"), signal);
    await store.delete(key("a"), {}, signal);
    const before = await store.bounds(signal);
    let cut: Promise<void> | undefined;
    await sql.begin(async (sql) => {
      await sql`SELECT FROM meta FOR UPDATE`;
      await sql`UPDATE counts SET objects = 1`;
      cut = store.compact(3, signal);
      await until(async () => {
        const waiting = await sql`
          SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))`;
        return waiting.length > 0;
      });
    });
    await cut;
    assert.deepEqual(await store.bounds(signal), { head: before.head + 1, floor: 3 });
    assert.equal((await sql`SELECT FROM counts WHERE objects = 1`).length, 1);
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
      await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
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
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
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
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await using store = await open();
    const bodies = { nul: "a\0b", half: "\ud800", plain: "\\u0000 \\ud800" };
    for (const [name, text] of Object.entries(bodies))
      await store.create(key(name), object(name, { spec: { text }, labels: { app: "x" } }), signal);
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
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
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

suite("a list on PostgreSQL", () => {
  const [scope, walk] = [everywhere, 10] as const;
  const request = { scope, walk, after: undefined, at: undefined, labels: [], name: undefined };

  test("takes from memory what it finds there word for word, and tells it of the rest", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    await using backend = await PostgresBackend.open(
      { url: parts.url, clock: systemClock },
      signal,
    );
    const bodies = { a: object("a"), b: object("b"), c: object("c") };
    for (const [name, body] of Object.entries(bodies)) {
      const columns = toColumns(key(name), body);
      await backend.commit([{ type: "create", key: key(name), body, columns }]);
    }
    const learnt: unknown[] = [];
    const known: KnownRows = {
      at: 4,
      find: ({ name }) => {
        if (name === "c") return undefined;
        const body = name === "a" ? bodies.a : Body.of({ metadata: { name, uid: "another" } });
        return { key: key(name), uid: "u", revision: 2, body };
      },
      learn: (rows, head) => learnt.push([rows.map(({ key }) => key.name), head]),
    };
    const { rows } = await backend.scan({ ...request, known }, signal);
    assert.deepEqual(
      rows.map(({ key, body }) => [key.name, body === bodies.a, body.text]),
      Object.entries(bodies).map(([name, body]) => [name, name === "a", body.text]),
    );
    assert.deepEqual(learnt, [[["a", "b", "c"], 4]]);
  });

  test("finds a row that was damaged although memory has it", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    await using store = await parts.open();
    await store.create(key("a"), object("a"), signal);
    assert.equal((await store.list(scope, {}, signal)).items.length, 1);
    await parts.sql`UPDATE resources SET object = '{"kind":'`;
    await assert.rejects(store.list(scope, {}, signal), { code: "Corrupt", key: key("a") });
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
