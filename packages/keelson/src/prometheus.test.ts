import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { PrometheusMetrics } from "./prometheus.ts";

async function linesOf(metrics: PrometheusMetrics, name: string): Promise<readonly string[]> {
  return (await metrics.text()).split("\n").filter((line) => line.startsWith(name));
}

suite("metrics by prom-client", () => {
  test("counters and histograms are zero from their declaration, gauges absent until they are set", async () => {
    const metrics = new PrometheusMetrics({ withProcess: false });
    const counter = metrics.counter({ name: "c_total", help: "c" });
    const gauge = metrics.gauge({ name: "g", help: "g" });
    const histogram = metrics.histogram({ name: "h_seconds", help: "h", buckets: [1, 2] });
    assert.deepEqual(await linesOf(metrics, "c_total"), ["c_total 0"]);
    assert.deepEqual(await linesOf(metrics, "g"), []);
    assert.ok((await linesOf(metrics, "h_seconds")).includes("h_seconds_count 0"));
    counter.add();
    counter.add(2);
    gauge.add(5);
    gauge.add(-1);
    histogram.observe(1.5);
    assert.deepEqual(await linesOf(metrics, "c_total"), ["c_total 3"]);
    assert.deepEqual(await linesOf(metrics, "g"), ["g 4"]);
    assert.ok((await linesOf(metrics, "h_seconds")).includes('h_seconds_bucket{le="2"} 1'));
    gauge.remove();
    assert.deepEqual(await linesOf(metrics, "g"), []);
  });

  test("series with labels are kept apart, and begin where they are asked for", async () => {
    const metrics = new PrometheusMetrics({ withProcess: false });
    const counter = metrics.counter({ name: "c_total", help: "c", labels: ["kind"] });
    counter.with({ kind: "a" });
    counter.add({ kind: "b" }, 2);
    assert.deepEqual(await linesOf(metrics, "c_total"), [
      'c_total{kind="a"} 0',
      'c_total{kind="b"} 2',
    ]);
    const gauge = metrics.gauge({ name: "g", help: "g", labels: ["kind"] });
    const one = gauge.with({ kind: "a" });
    assert.deepEqual(await linesOf(metrics, "g"), []);
    one.set(7);
    assert.deepEqual(await linesOf(metrics, "g"), ['g{kind="a"} 7']);
    gauge.remove({ kind: "a" });
    assert.deepEqual(await linesOf(metrics, "g"), []);
    const histogram = metrics.histogram({ name: "h_seconds", help: "h", labels: ["kind"] });
    histogram.observe({ kind: "a" }, 1);
    histogram.remove({ kind: "a" });
    counter.remove({ kind: "b" });
    assert.deepEqual(await linesOf(metrics, "h_seconds"), []);
    assert.deepEqual(await linesOf(metrics, "c_total"), ['c_total{kind="a"} 0']);
  });

  test("the same declaration gives the same metric, another one is refused", async () => {
    const metrics = new PrometheusMetrics({ withProcess: false });
    metrics.counter({ name: "c_total", help: "c" }).add();
    metrics.counter({ name: "c_total", help: "c" }).add();
    assert.deepEqual(await linesOf(metrics, "c_total"), ["c_total 2"]);
    assert.throws(() => metrics.gauge({ name: "c_total", help: "c" }), /c_total is a counter/);
    assert.throws(
      () => metrics.counter({ name: "c_total", help: "c", labels: ["a"] }),
      /cannot be/,
    );
  });
});
