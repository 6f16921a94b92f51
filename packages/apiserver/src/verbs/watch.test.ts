import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { ManualClock, RecordingMetrics, until } from "@keelson/base/testing";
import { SqliteBackend, Store } from "@keelson/store";

import { Api, meta } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const minuteMs = 60_000;

const configMap = (name: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
});

suite("watches by the clock", () => {
  test("KB 6 who wants bookmarks gets one a minute, of the kind and with nothing but its version", async (t) => {
    const clock = new ManualClock();
    await using server = await startTestServer({ clock }, t.signal);
    const api = new Api(server.url, t.signal);
    let last = Number(meta(await api.create(maps, configMap("a")), "resourceVersion"));
    using watch = await api.watch(
      `${maps}?watch=1&resourceVersion=${last}&allowWatchBookmarks=true`,
    );
    for (let turn = 0; turn < 3; turn += 1) {
      // Not before its time: the change is the next that is told.
      const created = await api.create(maps, configMap(`b-${turn}`));
      assert.deepEqual(await watch.take(1), [{ type: "ADDED", object: created.object }]);
      const version = Number(meta(created, "resourceVersion"));
      assert.ok(version > last, "a change that a bookmark had announced");
      await clock.advance(minuteMs);
      const [mark] = await watch.take(1);
      const resourceVersion = meta({ object: mark?.object ?? {} }, "resourceVersion");
      assert.deepEqual(mark, {
        type: "BOOKMARK",
        object: { kind: "ConfigMap", apiVersion: "v1", metadata: { resourceVersion } },
      });
      last = Number(resourceVersion);
      assert.ok(last >= version, "a bookmark below a change that was told");
    }
  });

  test("KB 5 a watch from a version still to come is silent to its end, bookmarks or not", async (t) => {
    const clock = new ManualClock();
    await using server = await startTestServer({ clock }, t.signal);
    const api = new Api(server.url, t.signal);
    using watch = await api.watch(
      `${maps}?watch=1&resourceVersion=99999999&allowWatchBookmarks=true&timeoutSeconds=90`,
    );
    await clock.advance(minuteMs);
    await clock.advance(minuteMs);
    assert.deepEqual(await watch.rest(), []);
  });

  test("KB 9 a watch that names no end is ended in order after 30 to 60 minutes", async (t) => {
    const clock = new ManualClock();
    await using server = await startTestServer({ clock }, t.signal);
    const api = new Api(server.url, t.signal);
    const version = meta(await api.create(maps, configMap("a")), "resourceVersion");
    using watch = await api.watch(`${maps}?watch=1&resourceVersion=${version}`);
    await clock.advance(30 * minuteMs - 1);
    await api.create(maps, configMap("b"));
    const [event] = await watch.take(1);
    assert.equal(event?.type, "ADDED");
    await clock.advance(30 * minuteMs + 1);
    assert.deepEqual(await watch.rest(), []);
  });

  test("events are counted that were sent, and not the mark that nobody asked for", async (t) => {
    const metrics = new RecordingMetrics();
    await using server = await startTestServer({ metrics }, t.signal);
    const api = new Api(server.url, t.signal);
    const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget" };
    await api.create(path, { ...budget, metadata: { name: "a" } });
    using watch = await api.watch(`${path}?watch=1`);
    assert.deepEqual(
      (await watch.take(1)).map(({ type }) => type),
      ["ADDED"],
    );
    await api.create(path, { ...budget, metadata: { name: "b" } });
    await watch.take(1);
    const labels = { group: "policy", version: "v1", kind: budget.kind };
    assert.equal(metrics.value("apiserver_watch_events_total", labels), 2);
  });

  test("what is delivered is measured until the client's socket took it", async (t) => {
    const clock = new ManualClock();
    const metrics = new RecordingMetrics();
    const backend = new SqliteBackend({ path: ":memory:", clock });
    const limits = { compactionEveryMs: undefined };
    await using store = await Store.open({ backend, clock, metrics, limits }, t.signal);
    await using server = await startTestServer({ store, clock }, t.signal);
    const api = new Api(server.url, t.signal);
    const from = meta(await api.get(maps), "resourceVersion");
    using watch = await api.watch(`${maps}?watch=1&resourceVersion=${from}`);
    // More than the sockets between us hold: nobody reads yet.
    const data = { filler: "x".repeat(900_000) };
    const names = Array.from({ length: 24 }, (_, index) => `m-${index}`);
    const seconds = (): readonly number[] => metrics.observations("keelson_watch_delivery_seconds");
    for (const name of names) await api.create(maps, { ...configMap(name), data });
    await clock.advance(5_000);
    const events = await watch.take(names.length);
    assert.deepEqual(
      events.map((event) => meta(event, "name")),
      names,
    );
    // Each batch that waited, and not only the time until somebody took them all.
    const isSeen = (): boolean => seconds().filter((one) => one >= 5).length > 1;
    await until(isSeen, "the wait for the socket is in the metric");
  });
});
