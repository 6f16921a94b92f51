// What fleet counts and measures (section 10), under the names and labels of the contract.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silentLog, systemClock } from "@keelson/base";
import { RecordingMetrics } from "@keelson/base/testing";
import { FleetGauges } from "@keelson/fleet";
import { until } from "../tools/until.ts";
import { startBed, synced, web, type Details } from "./bed.ts";
import { isOracle } from "../tools/test-cluster.ts";
import { startFleetRest } from "./fleet-rest.ts";
import { refusal } from "../tools/http-proxy.ts";

const prod = { cluster_id: "prod" };
const skip = isOracle ? "the answers are the proxy's, whoever is behind it" : false;

suite("the metrics of fleet", { skip }, () => {
  test("section 10: work, drifts, breaks and what is how far are counted as they happen", async (t) => {
    await using it = await startBed(t.signal, { viaHttp: true });
    const { metrics, http } = it;
    assert.ok(http !== undefined);
    const database = it.rest.tables.openAnother();
    const gauges = new FleetGauges({ database, clock: systemClock, log: silentLog, metrics });
    const count = (name: string, labels = {}) => metrics.value(`keelson_fleet_${name}`, labels);
    /** Of a moment at which they say so. */
    const shows = (name: string, labels: object, value: number | undefined) =>
      until(async () => {
        await gauges.measure(t.signal);
        return metrics.value(`keelson_fleet_${name}`, { ...labels }) === value;
      }, t.signal);

    // Nobody works yet: it waits.
    const id = await it.create(web);
    await shows("queue_depth", {}, 1);
    assert.ok((count("queue_oldest_seconds") ?? 0) > 0);
    assert.equal(count("resources", { ...prod, status: "pending" }), 1);
    assert.equal(count("target_up", prod), 0);
    it.startWorker({ backoffMs: { min: 300_000, max: 300_000 } });
    await it.becomes(id, synced);
    await shows("resources", { ...prod, status: "synced" }, 1);
    await shows("target_up", prod, 1);
    await shows("queue_depth", {}, 0);
    assert.equal(count("queue_oldest_seconds"), 0);
    // What is no more is absent, and not zero.
    assert.equal(count("resources", { ...prod, status: "pending" }), undefined);
    assert.equal(count("apply_total", { ...prod, result: "success", class: "" }), 1);
    for (const hop of ["claimed", "applied", "observed"]) {
      assert.ok((count("convergence_seconds", { hop }) ?? 0) > 0, hop);
    }
    assert.ok((count("poll_seconds") ?? 0) > 0);
    assert.deepEqual([count("drift_total"), count("stale_write_refused_total")], [0, 0]);

    http.intercept = ({ method, path }) =>
      method === "PATCH" && path.endsWith("/configmaps/bad")
        ? refusal(422, "Invalid", "no")
        : undefined;
    const bad = await it.create({ ...web, name: "bad" });
    await it.becomes(bad, ({ status }: Details) => status === "error");
    await shows("apply_total", { ...prod, result: "error", class: "invalid" }, 1);
    await shows("resources", { ...prod, status: "error" }, 1);

    const maps = await it.configMaps();
    const ref = { namespace: "default", name: "web" };
    await maps.patch(ref, { type: "merge", body: { data: { a: "theirs" } } }, t.signal);
    await until(() => count("drift_total") === 1, t.signal);
    http.cut();
    await until(() => (count("watch_restarts_total", { reason: "connection" }) ?? 0) > 0, t.signal);

    await it.rest.ask("DELETE", "/targets/prod?orphan=true");
    await shows("target_up", prod, undefined);
    await shows("resources", { ...prod, status: "error" }, undefined);
    assert.deepEqual(metrics.names.filter((name) => name.startsWith("keelson_fleet_")).toSorted(), [
      "keelson_fleet_apply_total",
      "keelson_fleet_convergence_seconds",
      "keelson_fleet_drift_total",
      "keelson_fleet_poll_seconds",
      "keelson_fleet_queue_depth",
      "keelson_fleet_queue_oldest_seconds",
      "keelson_fleet_resources",
      "keelson_fleet_stale_write_refused_total",
      "keelson_fleet_target_up",
      "keelson_fleet_watch_restarts_total",
    ]);
  });

  test("section 10: each request is measured by its route and code, never by what it names", async () => {
    const metrics = new RecordingMetrics();
    await using it = await startFleetRest({ metrics });
    const { body } = await it.ask("POST", "/resources", web);
    await it.ask("GET", `/resources/${body.id}`);
    await it.ask("GET", "/resources/999");
    await it.ask("POST", "/resources", web);
    const counted = (route: string, code: string) =>
      metrics.value("keelson_fleet_http_request_seconds", { route: `/api/v1${route}`, code });
    assert.deepEqual(
      [
        counted("/resources", "201"),
        counted("/resources", "409"),
        counted("/resources/:id", "200"),
        counted("/resources/:id", "404"),
      ],
      [1, 1, 1, 1],
    );
  });
});
