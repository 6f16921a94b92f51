// Every metric that apiserver.md §6 names, as a running server shows it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { until } from "../../oracle/until.ts";
import { configMap } from "../objects.ts";
import { drivers, startOurs } from "../ours.ts";
import { metricsOf, type Sample } from "./metrics.ts";
import { openStream } from "./stream.ts";

const request = ["code", "group", "resource", "subresource", "verb", "version"];
const operation = ["kind", "operation", "outcome"];

/** By the name of each metric, the labels that its samples have. */
const everywhere: Readonly<Record<string, readonly string[]>> = {
  apiserver_request_total: request,
  apiserver_request_duration_seconds: request,
  apiserver_current_inflight_requests: [],
  apiserver_longrunning_requests: ["group", "resource", "version"],
  apiserver_watch_events_total: ["group", "kind", "version"],
  apiserver_storage_objects: ["resource"],
  keelson_store_operations_total: operation,
  keelson_store_operation_seconds: operation,
  keelson_store_batch_size: [],
  keelson_store_commit_seconds: [],
  keelson_store_head_revision: [],
  keelson_store_floor_revision: [],
  keelson_store_log_rows: [],
  keelson_store_size_bytes: [],
  keelson_store_database_up: [],
  keelson_store_corrupt_total: [],
  keelson_watch_active: [],
  keelson_watch_behind: [],
  keelson_watch_delivery_seconds: [],
};

/** What applies to connections; a file has none. */
const onPostgres: Readonly<Record<string, readonly string[]>> = {
  keelson_store_pool_open: [],
  keelson_store_pool_in_use: [],
  keelson_store_pool_waiting: [],
  keelson_notify_connected: [],
  keelson_notify_degraded: [],
};

/** Counters of what has not happened, or not here: there from the start where they have no labels. */
const counters = ["keelson_notify_received_total", "keelson_notify_reconnects_total"];

const path = "/api/v1/namespaces/default/configmaps";

suite("metrics of the API server", () => {
  for (const driver of drivers) {
    test(`every one that the contract names is there, with its labels, on ${driver}`, async (t) => {
      await using server = await startOurs({ driver }, t.signal);
      using stream = await openStream(server, `${path}?watch=1&resourceVersion=0`, t.signal);
      await server.client.send({ method: "POST", path, body: configMap("a") }, t.signal);
      await stream.take(2, t.signal);

      const expected = { ...everywhere, ...(driver === "postgresql" ? onPostgres : {}) };
      let samples: readonly Sample[] = [];
      // Some are asked of the database now and then.
      await until(
        async () => {
          samples = await metricsOf(server, t.signal);
          const present = new Set(samples.map(({ name }) => name));
          return Object.keys(expected).every((name) => present.has(name));
        },
        AbortSignal.any([t.signal, AbortSignal.timeout(120_000)]),
      ).catch(() => undefined);
      const labels = new Map(samples.map((one) => [one.name, Object.keys(one.labels).toSorted()]));
      assert.deepEqual(
        Object.fromEntries(Object.keys(expected).map((name) => [name, labels.get(name)])),
        expected,
      );
      for (const name of counters) assert.ok(labels.has(name), name);
      // A gauge that does not apply is absent.
      for (const name of Object.keys(onPostgres)) {
        assert.equal(labels.has(name), driver === "postgresql", name);
      }

      const valueOf = (name: string, wanted: Readonly<Record<string, string>> = {}): number =>
        samples.find(
          (one) =>
            one.name === name &&
            Object.entries(wanted).every(([label, value]) => one.labels[label] === value),
        )?.value ?? Number.NaN;
      assert.equal(valueOf("apiserver_storage_objects", { resource: "namespaces" }), 4);
      assert.equal(valueOf("apiserver_storage_objects", { resource: "deployments.apps" }), 0);
      assert.equal(valueOf("apiserver_longrunning_requests", { resource: "configmaps" }), 1);
      assert.ok(valueOf("apiserver_watch_events_total", { kind: "ConfigMap" }) >= 2);
      assert.equal(
        valueOf("apiserver_request_total", { verb: "create", resource: "configmaps", code: "201" }),
        1,
      );
      assert.equal(valueOf("keelson_store_database_up"), 1);
      assert.ok(valueOf("keelson_store_head_revision") > valueOf("keelson_store_floor_revision"));
      assert.ok(valueOf("keelson_store_size_bytes") > 0);
    });
  }
});
