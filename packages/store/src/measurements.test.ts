// Gauges of what only the database knows: true on every replica, and absent while nobody can say.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres, startThrowawayPostgres } from "@keelson/database/testing";
import { systemClock, type Clock } from "@keelson/base";
import { ManualClock, RecordingMetrics, until } from "@keelson/base/testing";
import { PostgresBackend } from "./postgres/backend.ts";
import { SqliteBackend } from "./sqlite/backend.ts";
import { Store } from "./store.ts";
import { everywhere, key, object, signal } from "./testing/bed.ts";
import { freshDatabase } from "./testing/postgres-bed.ts";

const limits = { compactionEveryMs: undefined } as const;

suite("measurements", () => {
  test("what was written shows without a cut, within half a minute", async () => {
    const metrics = new RecordingMetrics();
    const clock = new ManualClock();
    const backend = new SqliteBackend({ path: ":memory:", clock });
    await using store = await Store.open({ backend, clock, metrics, limits }, signal);
    const before = gauges(metrics);
    for (const name of ["a", "b", "c"])
      await store.create(key(name), object(name, { spec: { text: "x".repeat(20_000) } }), signal);
    await clock.advance(30_000);
    const { bytes = 0, ...rest } = gauges(metrics);
    assert.deepEqual(rest, { floor: 1, logRows: 3 });
    assert.ok(bytes > (before.bytes ?? 0) + 60_000, `${before.bytes} → ${bytes}`);
  });

  test("a leap leaves nothing in the log, however far it went", async () => {
    const metrics = new RecordingMetrics();
    const clock = new ManualClock();
    const backend = new SqliteBackend({ path: ":memory:", clock });
    await using store = await Store.open({ backend, clock, metrics, limits }, signal);
    await store.create(key("a"), object("a"), signal);
    const { floor } = await store.leap(signal);
    await clock.advance(30_000);
    assert.deepEqual([gauges(metrics).floor, gauges(metrics).logRows], [floor, 0]);
    await store.create(key("b"), object("b"), signal);
    await clock.advance(30_000);
    assert.deepEqual([gauges(metrics).floor, gauges(metrics).logRows], [floor, 1]);
  });

  test("a replica shows what another has cut", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const clock = new ManualClock();
    const [one, two] = [new RecordingMetrics(), new RecordingMetrics()];
    await using first = await openOn(parts.url, { clock, metrics: one });
    await using second = await openOn(parts.url, { clock, metrics: two });
    for (let n = 0; n < 40; n += 1) await second.create(key(`n${n}`), object(`n${n}`), signal);
    await first.compact(31, signal);
    await clock.advance(30_000);
    await until(() => gauges(two).floor === 31);
    // Revisions 32 to 41 are left; the cut has taken one more.
    assert.deepEqual(gauges(two), gauges(one));
    assert.equal(gauges(two).logRows, 10);
    const [real] = await parts.sql`SELECT count(*)::int AS rows FROM changes`;
    assert.equal(real?.["rows"], 10);
  });

  test("they go with the database, and come back with it", async () => {
    await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
    const { url } = await freshDatabase(Promise.resolve(server)); // It goes with its server.
    const metrics = new RecordingMetrics();
    // Standing: whatever is measured is measured because somebody found the database gone, or back.
    await using store = await openOn(url, { clock: new ManualClock(), metrics });
    await Promise.all(["a", "b"].map((name) => store.create(key(name), object(name), signal)));
    await Promise.all(
      Array.from({ length: 20 }, () => store.list(everywhere, {}, signal)), // Every connection is in use.
    );
    await until(() => metrics.value("keelson_notify_connected") === 1);
    await store.ping(signal);
    assert.deepEqual(pool(metrics), { open: 6, inUse: 0, waiting: 0 });

    await server.stop({ mode: "immediate" });
    await until(() => pool(metrics).open === 0);
    await assert.rejects(store.ping(signal));
    await until(() => gauges(metrics).floor === undefined);
    assert.deepEqual(gauges(metrics), { floor: undefined, logRows: undefined, bytes: undefined });
    assert.deepEqual(pool(metrics), { open: 0, inUse: 0, waiting: 0 });

    await server.start();
    await until(() =>
      store.ping(signal).then(
        () => true,
        () => false,
      ),
    );
    await until(() => gauges(metrics).floor === 1);
    assert.equal(gauges(metrics).logRows, 2);
    assert.ok((gauges(metrics).bytes ?? 0) > 0);
    await until(() => (pool(metrics).open ?? 0) > 0);
  });

  test("a write that is under way has its connection in use", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const metrics = new RecordingMetrics();
    await using store = await openOn(parts.url, { clock: new ManualClock(), metrics });
    await store.create(key("a"), object("a"), signal);
    await parts.sql`BEGIN`;
    await parts.sql`SELECT * FROM meta FOR UPDATE`;
    const writes = ["b", "c"].map((name) => store.create(key(name), object(name), signal));
    await until(() => pool(metrics).inUse === 1);
    await parts.sql`COMMIT`;
    await Promise.all(writes);
    await until(() => pool(metrics).inUse === 0);
    assert.equal(pool(metrics).waiting, 0);
  });
});

interface Gauges {
  readonly floor: number | undefined;
  readonly logRows: number | undefined;
  readonly bytes: number | undefined;
}

function gauges(metrics: RecordingMetrics): Gauges {
  return {
    floor: metrics.value("keelson_store_floor_revision"),
    logRows: metrics.value("keelson_store_log_rows"),
    bytes: metrics.value("keelson_store_size_bytes"),
  };
}

function pool(metrics: RecordingMetrics) {
  return {
    open: metrics.value("keelson_store_pool_open"),
    inUse: metrics.value("keelson_store_pool_in_use"),
    waiting: metrics.value("keelson_store_pool_waiting"),
  };
}

/** The store's clock may stand; the deadlines of real calls go on. */
async function openOn(
  url: string,
  { clock, metrics }: { readonly clock: Clock; readonly metrics: RecordingMetrics },
): Promise<Store> {
  const backend = await PostgresBackend.open({ url, clock: systemClock, metrics }, signal);
  return Store.open({ backend, clock, metrics, limits }, signal);
}
