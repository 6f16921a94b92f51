// What the store tells about itself.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { systemClock } from "@keelson/base";
import { ManualClock, RecordingMetrics } from "@keelson/base/testing";
import { PostgresBackend } from "./postgres/backend.ts";
import { SqliteBackend } from "./sqlite/backend.ts";
import { Store } from "./store.ts";
import { everywhere, key, kind, object, signal, take } from "./testing/bed.ts";
import { freshDatabase } from "./testing/postgres-bed.ts";

suite("metrics of the store", () => {
  test("operations, batches, revisions and watches are counted", async () => {
    const metrics = new RecordingMetrics();
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    const limits = { compactionEveryMs: undefined, watchBufferMax: 1 };
    await using store = await Store.open({ backend, metrics, limits }, signal);
    assert.equal(metrics.value("keelson_store_head_revision"), 1);
    assert.equal(metrics.value("keelson_store_floor_revision"), 1);
    assert.equal(metrics.value("keelson_store_log_rows"), 0);
    assert.ok((metrics.value("keelson_store_size_bytes") ?? 0) > 0);
    using watch = await store.watch(everywhere, { from: 1 }, signal);
    assert.equal(metrics.value("keelson_watch_active"), 1);
    assert.equal(metrics.value("keelson_watch_behind"), 1);

    await Promise.all(["a", "b"].map((name) => store.create(key(name), object(name), signal)));
    await assert.rejects(store.create(key("a"), object("a"), signal));
    await store.get(key("a"), signal);
    await store.ping(signal);
    await take(watch, 2);
    const waiting = watch.next();
    assert.equal(metrics.value("keelson_watch_behind"), 0);

    const labels = { operation: "create", kind };
    assert.equal(metrics.value("keelson_store_operations_total", { ...labels, outcome: "ok" }), 2);
    assert.equal(
      metrics.value("keelson_store_operations_total", { ...labels, outcome: "AlreadyExists" }),
      1,
    );
    assert.equal(
      metrics.value("keelson_store_operations_total", { operation: "get", kind, outcome: "ok" }),
      1,
    );
    assert.deepEqual(metrics.observations("keelson_store_batch_size"), [2, 1]);
    assert.equal(metrics.observations("keelson_store_commit_seconds").length, 2);
    assert.equal(metrics.value("keelson_store_head_revision"), 3);
    assert.equal(metrics.value("keelson_store_database_up"), 1);

    await store.compact(2, signal);
    assert.equal(metrics.value("keelson_store_floor_revision"), 2);
    assert.ok((metrics.value("keelson_store_size_bytes") ?? 0) > 0);
    // A gauge that does not apply to this backend is absent.
    assert.equal(metrics.value("keelson_notify_degraded"), undefined);
    assert.equal(metrics.value("keelson_store_pool_open"), undefined);

    watch[Symbol.dispose]();
    await waiting;
    assert.equal(metrics.value("keelson_watch_active"), 0);
  });

  test("a caller who leaves does not make the database look gone; one whose time is up does", async () => {
    const metrics = new RecordingMetrics();
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    await using store = await Store.open({ backend, metrics }, signal);
    const isUp = (): number | undefined => metrics.value("keelson_store_database_up");
    await store.ping(signal);
    await assert.rejects(store.ping(AbortSignal.abort()), { name: "AbortError" });
    assert.equal(isUp(), 1);
    const timeUp = AbortSignal.abort(new DOMException("the time is up", "TimeoutError"));
    await assert.rejects(store.ping(timeUp), { name: "TimeoutError" });
    assert.equal(isUp(), 0);
    await store.ping(signal);
    assert.equal(isUp(), 1);
  });

  test("watches that compaction was ahead of are counted by kind, whether they were refused or overtaken", async () => {
    const metrics = new RecordingMetrics();
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    const limits = { compactionEveryMs: undefined, recentChangesMax: 0, pagesMax: 0 };
    await using store = await Store.open({ backend, metrics, limits }, signal);
    const expired = (of: string): number | undefined =>
      metrics.value("keelson_watch_expired_total", { kind: of });
    for (const name of ["a", "b", "c"]) await store.create(key(name), object(name), signal);
    using overtaken = await store.watch(everywhere, { from: 2 }, signal);
    assert.equal(expired(kind), undefined);
    await store.compact(3, signal);
    await assert.rejects(overtaken.next(), { code: "Expired" });
    assert.equal(expired(kind), 1);
    for (const scope of [everywhere, everywhere, { kind: "Other", namespace: "" }])
      await assert.rejects(store.watch(scope, { from: 2 }, signal), { code: "Expired" });
    assert.deepEqual([expired(kind), expired("Other")], [3, 1]);
  });

  test("each read of a row that cannot be decoded is counted", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    await using writer = await parts.open();
    for (const name of ["good", "bad"]) await writer.create(key(name), object(name), signal);
    await parts.sql`UPDATE resources SET object = '{"kind":' WHERE name = 'bad'`;
    const metrics = new RecordingMetrics();
    const backend = await PostgresBackend.open({ url: parts.url, clock: systemClock }, signal);
    await using store = await Store.open({ backend, metrics }, signal);
    const corrupt = (): number | undefined => metrics.value("keelson_store_corrupt_total");
    await store.get(key("good"), signal);
    assert.equal(corrupt(), 0);
    for (const read of [
      () => store.get(key("bad"), signal),
      () => store.get(key("bad"), signal),
      () => store.list(everywhere, {}, signal),
    ])
      await assert.rejects(read(), { code: "Corrupt" });
    assert.equal(corrupt(), 3);
  });

  test("a delivery lasts from the commit until the last watcher asks for more, and counts once a batch", async () => {
    await using bed = await openBed();
    const { store, clock, seconds } = bed;
    using one = await store.watch(everywhere, { from: 1 }, signal);
    using other = await store.watch(everywhere, { from: 1 }, signal);
    let both = [one.next(), other.next()];
    await turn();
    await store.create(key("a"), object("a"), signal);
    await Promise.all(both);
    await clock.advance(1000);
    both = [one.next()];
    assert.deepEqual(seconds(), []);
    await clock.advance(1000);
    both.push(other.next());
    assert.deepEqual(seconds(), [2]);

    // While one is busy, what comes for it waits, and is its share of that batch.
    await store.create(key("b"), object("b"), signal);
    await Promise.all(both);
    const later = one.next();
    await store.create(key("c"), object("c"), signal);
    await later;
    void one.next();
    await clock.advance(3000);
    await other.next();
    assert.deepEqual(seconds(), [2, 3]);
    await clock.advance(1000);
    void other.next();
    assert.deepEqual(seconds(), [2, 3, 4]);
  });

  test("a delivery to a watcher that leaves or falls behind is that of the others", async () => {
    await using bed = await openBed({ watchBufferMax: 1 });
    const { store, clock, seconds } = bed;
    using quick = await store.watch(everywhere, { from: 1 }, signal);
    const slow = await store.watch(everywhere, { from: 1 }, signal);
    const waiting = [quick.next(), slow.next()];
    await turn();
    await store.create(key("a"), object("a"), signal);
    await Promise.all(waiting);
    for (const name of ["b", "c"]) {
      const next = quick.next();
      await store.create(key(name), object(name), signal);
      await clock.advance(1000);
      await next;
    }
    void quick.next();
    // Its buffer held the second; with the third it fell behind. The first it still has.
    assert.ok(slow.isBehind);
    assert.deepEqual(seconds(), [1, 1]);
    await clock.advance(1000);
    await slow.next(); // What it has missed, by the log: it counts by itself.
    assert.deepEqual(seconds(), [1, 1, 3]);
    await clock.advance(1000);
    slow[Symbol.dispose]();
    assert.deepEqual(seconds(), [1, 1, 3]);
  });
});

async function openBed({ watchBufferMax = 100 }: { readonly watchBufferMax?: number } = {}) {
  const metrics = new RecordingMetrics();
  const clock = new ManualClock();
  const backend = new SqliteBackend({ path: ":memory:", clock });
  const limits = { compactionEveryMs: undefined, watchBufferMax };
  const store = await Store.open({ backend, clock, metrics, limits }, signal);
  const seconds = (): readonly number[] => metrics.observations("keelson_watch_delivery_seconds");
  return { store, clock, seconds, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** Watches that wait are level by then. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
