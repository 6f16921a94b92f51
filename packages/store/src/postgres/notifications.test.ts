import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { systemClock, type Clock } from "@keelson/base";
import { RecordingLog, RecordingMetrics, until } from "@keelson/base/testing";
import { everywhere, key, object, signal, summary, take } from "../testing/bed.ts";
import { freshDatabase } from "../testing/postgres-bed.ts";
import { PostgresProxy } from "../testing/postgres-proxy.ts";

suite("wake-ups of PostgreSQL", () => {
  test("a connection that listens and is terminated is made again; nothing is lost meanwhile", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
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
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
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
    // Whoever asks over a connection that was just cut is refused, once.
    await until(() =>
      two.ping(signal).then(
        () => true,
        () => false,
      ),
    );
    using watch = await two.watch(everywhere, { from: 1 }, signal);
    for (const [n, name] of ["a", "b", "c"].entries()) {
      await one.create(key(name), object(name), signal);
      assert.deepEqual((await take(watch, 1)).map(summary), [`ADDED ${name} ${n + 2}`]);
    }
    assert.equal(metrics.value("keelson_notify_degraded"), 1);
    assert.ok(log.messages("warn").includes("wake-ups do not arrive, polling instead"));
  });

  test("a failover behind a pooler, which keeps our connections, lets older revisions expire", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url, open } = parts;
    await using proxy = await PostgresProxy.start(url);
    const metrics = new RecordingMetrics();
    const soon = (ms: number): number => (ms === probeEveryMs ? 20 : ms);
    const sleep: Clock["sleep"] = (ms, signal) => systemClock.sleep(soon(ms), signal);
    await using store = await open({ url: proxy.url, metrics, clock: { ...systemClock, sleep } });
    await until(() => metrics.value("keelson_notify_degraded") === 0);
    using watch = await store.watch(everywhere, { from: 1 }, signal);
    const next = assert.rejects(watch.next(), { code: "Expired" });
    proxy.swallowsNotifications = true;
    await until(() => metrics.value("keelson_notify_degraded") === 1);
    // As where a replica takes over that lacks the last commits, and as many have come since.
    await sql`UPDATE meta SET timeline = timeline + 1`;
    await next;
    assert.equal(metrics.value("keelson_notify_reconnects_total"), 0, "it was not cut");
  });
});

/** How often listening is put to the test. */
const probeEveryMs = 30_000;
