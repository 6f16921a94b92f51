// Events on their way to a transport: at least once, in order per key, whatever becomes of relays and transports.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom, TaskScope } from "@keelson/base";
import { RecordingLog, until } from "@keelson/base/testing";
import type { DatabaseOptions } from "../database.ts";
import { claimKeys, settleKeys } from "../sql/outbox.ts";
import { statement } from "../sql/statement.ts";
import { eachPostgres } from "../testing/each-postgres.ts";
import {
  append,
  claimOfKey,
  drained,
  event,
  fast,
  keyRows,
  logEvent,
  makeKeyDue,
  never,
  outboxOn,
  pending,
  RecordingTransport,
  relaying,
} from "../testing/outbox-bed.ts";
import { createServicesDatabase } from "../testing/services-database.ts";
import { Relay, type Transport } from "./relay.ts";

const shutGate = statement<undefined>("shutGate", (sql) => sql`SELECT pg_advisory_xact_lock(1)`);
const atGate = statement<undefined>(
  "atGate",
  (sql) => sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`,
);

eachPostgres("relay", (server) => {
  const fresh = async (options: Partial<DatabaseOptions> = {}) =>
    createServicesDatabase(await server(), options);

  test("what committed is published in order per key, what rolled back never", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const transport = new RecordingTransport();
    await relaying(outbox, transport, async () => {
      await append(outbox, event("a", 1), event("b", 1));
      await assert.rejects(
        it.database.transaction(async (sql) => {
          await outbox.append(sql, [event("a", 99)]);
          throw new Error("rolled back");
        }, never),
      );
      await append(outbox, event("a", 2), logEvent("log", 1));
      await until(() => drained(it.database));
    });
    assert.deepEqual(
      [transport.seqs("a"), transport.seqs("b"), transport.seqs("log")],
      [[1, 2], [1], []],
    );
  });

  test("a key that fails is tried again, with its error to be seen, and keeps nobody waiting", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const transport = new RecordingTransport();
    transport.failing.add("poison");
    await relaying(outbox, transport, async () => {
      await append(outbox, event("poison", 1), event("poison", 2), event("good", 1));
      await until(() => transport.seqs("good").length === 1);
      await until(async () => {
        const [row] = await it.database
          .run(keyRows, undefined, never)
          .then((rows) => rows.filter(({ ordering_key }) => ordering_key === "poison"));
        return (row?.attempts ?? 0) >= 3 && row?.last_error === "no such topic";
      });
      await append(outbox, event("good", 2), event("poison", 3));
      await until(() => transport.seqs("good").length === 2);
      transport.failing.clear();
      await until(() => drained(it.database));
    });
    assert.deepEqual(transport.seqs("poison"), [1, 2, 3]);
    const rows = await it.database.run(keyRows, undefined, never);
    assert.deepEqual(
      rows.map(({ attempts, last_error }) => [attempts, last_error]),
      [
        [0, null],
        [0, null],
      ],
    );
  });

  for (const { chance, share } of [
    { chance: 0, share: 1 },
    { chance: 0.75, share: 0.625 },
  ]) {
    test(`unless told otherwise waits grow from 1 s to 60 s, less what chance takes (${chance}), for ever`, async () => {
      await using it = await fresh();
      const log = new RecordingLog();
      const random = { ...systemRandom, float: () => chance };
      const outbox = outboxOn(it.database, { random, log });
      const transport = new RecordingTransport();
      transport.failing.add("poison");
      const relay = new Relay({ outbox, transport });
      const waits = () =>
        log.entries
          .filter(({ message }) => message === "event not published")
          .map(({ fields }) => Number(fields["waitMs"]));
      await using scope = new TaskScope(never);
      scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
      await append(outbox, event("poison", 1));
      scope.spawn("relay", (signal) => relay.run(signal));
      let madeDueMs = 0;
      let seen = 0;
      while (waits().length < 40) {
        // The database's clock decides when a key is due, and nobody moves it: so the key is moved.
        const [key] = await it.database.run(makeKeyDue, undefined, never);
        if (key === undefined) continue; // It is being published.
        const waitMs = waits()[key.attempts - 1] ?? Number.NaN;
        assert.ok(key.due_ms <= key.now_ms + waitMs + 1, `${key.due_ms - key.now_ms} > ${waitMs}`);
        assert.ok(key.due_ms >= madeDueMs + waitMs - 1, `${key.due_ms - madeDueMs} < ${waitMs}`);
        madeDueMs = key.now_ms;
        seen += 1;
      }
      assert.ok(seen > 1);
      const expected = Array.from({ length: 40 }, (_, n) => Math.min(60, 2 ** n) * 1_000 * share);
      assert.deepEqual(waits().slice(0, 40), expected);
    });
  }

  test("a transport that hangs costs its timeout, for its key alone, and stopping does not wait for it", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const published = new RecordingTransport();
    const hung = Promise.withResolvers<void>();
    const transport: Transport = {
      async publish(events, signal) {
        if (events[0]?.orderingKey !== "hangs") return published.publish(events);
        hung.resolve();
        await new Promise<void>((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    };
    await relaying(
      outbox,
      transport,
      async () => {
        await append(outbox, event("hangs", 1));
        await hung.promise;
        await append(outbox, event("flows", 1));
        await until(() => published.seqs("flows").length === 1);
      },
      { leaseMs: 60_000, publishTimeoutMs: 30_000 },
    );
    // The claim was given back: the next relay need not wait for its lease.
    await relaying(outbox, published, () => until(() => drained(it.database)));
    assert.deepEqual(published.seqs("hangs"), [1]);
  });

  test("two relays share the work, and each key stays in order", async () => {
    await using it = await fresh();
    const transport = new RecordingTransport();
    const one = outboxOn(it.database);
    const other = outboxOn(it.openAnother());
    await relaying(one, transport, () =>
      relaying(other, transport, async () => {
        for (let seq = 1; seq <= 20; seq++) {
          await append(
            seq % 2 ? one : other,
            ...["a", "b", "c", "d"].map((key) => event(key, seq)),
          );
        }
        await until(() => drained(it.database));
      }),
    );
    const expected = Array.from({ length: 20 }, (_, i) => i + 1);
    for (const key of ["a", "b", "c", "d"])
      assert.deepEqual([...new Set(transport.seqs(key))], expected);
  });

  test("who has lost a claim marks what it has published, and leaves the key to its successor", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    await append(outbox, event("k", 1), event("k", 2));
    await outbox.numberAll(never);
    const claim = async (leaseMs: number): Promise<string> => {
      const token = systemRandom.uuid();
      const asked = { claim: token, leaseMs, keysMax: 10, eventsPerKeyMax: 10 };
      const rows = await it.database.run(claimKeys, asked, never);
      assert.equal(rows.length, 2);
      return token;
    };
    const settle = async (token: string, published: number): Promise<number | undefined> => {
      const settlement = {
        orderingKeys: ["k"],
        claims: [token],
        publishedPositions: [published],
        retryMs: [null],
        errors: [null],
      };
      return (await it.database.run(settleKeys, settlement, never))[0]?.settled;
    };
    const late = await claim(0);
    const successor = await claim(60_000);
    assert.equal(await settle(late, 1), 0);
    const [held] = await it.database.run(claimOfKey, undefined, never);
    assert.deepEqual(held, { claim: successor, is_due: false, published: 1 });
    assert.equal(await settle(successor, 2), 1);
    assert.equal(await drained(it.database), true);
  });

  test("an event that comes while a claim is on its way to its key is published", async () => {
    await using it = await fresh();
    // `clock_timestamp` is what a claim asks for first: after its view of the tables, before it looks for keys.
    await it.query(`
      CREATE SCHEMA gate;
      CREATE FUNCTION gate.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(1);
        RETURN pg_catalog.clock_timestamp();
      END $$`);
    const searchPath = ["gate", "pg_catalog", "lifecycle"];
    const other = outboxOn(it.openAnother({ searchPath }));
    const transport = new RecordingTransport();
    const outbox = outboxOn(it.database);
    await append(outbox, event("k", 1));
    await outbox.numberAll(never);

    await using scope = new TaskScope(never);
    await it.openAnother().transaction(async (sql) => {
      await sql.run(shutGate, undefined);
      const relay = new Relay({ outbox: other, transport, ...fast });
      scope.spawn("relay", (signal) => relay.run(signal));
      await until(async () => (await it.database.run(atGate, undefined, never)).length > 0);
      await relaying(outbox, transport, async () => {
        await until(() => drained(it.database));
      });
      await append(outbox, event("k", 2));
      await outbox.numberAll(never);
    }, never);
    await until(() => drained(it.database));
    assert.deepEqual(transport.seqs("k"), [1, 2]);
  });

  test("a backlog of one key is taken in portions, in order", async () => {
    await using it = await fresh();
    const outbox = outboxOn(it.database);
    const transport = new RecordingTransport();
    const expected = Array.from({ length: 25 }, (_, i) => i + 1);
    await append(outbox, ...expected.map((seq) => event("a", seq)));
    await relaying(outbox, transport, () => until(() => drained(it.database)), {
      eventsPerKeyMax: 10,
    });
    assert.deepEqual(transport.seqs("a"), expected);
  });

  test("a relay that is stopped while its claim is on its way gives it back", async () => {
    await using it = await fresh();
    const claimed = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const database = it.openAnother({
      onStatement: async ({ statement, phase }) => {
        if (statement !== "claimKeys" || phase !== "after") return;
        claimed.resolve();
        await held.promise;
      },
    });
    const outbox = outboxOn(database);
    await append(outbox, event("a", 1));
    await outbox.numberAll(never);
    const stop = new AbortController();
    const relay = new Relay({ outbox, transport: new RecordingTransport(), ...fast });
    const running = relay.run(stop.signal).catch(() => undefined);
    await claimed.promise;
    stop.abort(new Error("stopping"));
    await it.database.run(pending, undefined, never); // Whoever ends at once has ended.
    held.resolve();
    await running;
    const [row] = await it.database.run(claimOfKey, undefined, never);
    assert.deepEqual(row, { claim: null, is_due: true, published: 0 });
  });
});
