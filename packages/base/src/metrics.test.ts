import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { noMetrics, type Metrics } from "./metrics.ts";
import { RecordingMetrics } from "./testing/recording-metrics.ts";

/** Uses every shape once; that it compiles is half of the test. */
function useAll(metrics: Metrics): void {
  const requests = metrics.counter({
    name: "requests",
    help: "Requests.",
    labels: ["verb", "code"],
  });
  requests.add({ verb: "get", code: "200" });
  requests.add({ verb: "get", code: "200" }, 2);
  requests.with({ verb: "watch", code: "200" });
  // @ts-expect-error a label is missing
  const incomplete = (): void => requests.add({ verb: "get" });
  void incomplete;

  const restarts = metrics.counter({ name: "restarts", help: "Restarts." });
  // @ts-expect-error there are no labels to give
  const superfluous = (): void => restarts.add({}, 1);
  void superfluous;

  const backlog = metrics.gauge({ name: "backlog", help: "Backlog." });
  backlog.set(5);
  backlog.add(-2);
  const phases = metrics.gauge({ name: "clusters", help: "Clusters.", labels: ["phase"] });
  phases.set({ phase: "Ready" }, 3);
  phases.add({ phase: "Ready" });
  phases.set({ phase: "Failed" }, 1);
  phases.remove({ phase: "Failed" });
  phases.with({ phase: "Pending" });

  const seconds = metrics.histogram({ name: "seconds", help: "Time.", buckets: [0.1, 1] });
  seconds.observe(0.5);
  const sizes = metrics.histogram({ name: "bytes", help: "Size.", labels: ["kind"] });
  sizes.observe({ kind: "Pod" }, 10);
  sizes.with({ kind: "Pod" }).observe(20);
}

suite("metrics", () => {
  test("no metrics take everything and keep nothing", () => {
    useAll(noMetrics);
  });

  test("recording metrics tell the value of each series", () => {
    const metrics = new RecordingMetrics();
    useAll(metrics);
    assert.deepEqual(
      {
        get: metrics.value("requests", { code: "200", verb: "get" }),
        watch: metrics.value("requests", { verb: "watch", code: "200" }),
        unknown: metrics.value("requests", { verb: "put", code: "200" }),
        restarts: metrics.value("restarts"),
        backlog: metrics.value("backlog"),
        ready: metrics.value("clusters", { phase: "Ready" }),
        failed: metrics.value("clusters", { phase: "Failed" }),
        pending: metrics.value("clusters", { phase: "Pending" }),
        seconds: metrics.observations("seconds"),
        bytes: metrics.observations("bytes", { kind: "Pod" }),
        byteCount: metrics.value("bytes", { kind: "Pod" }),
      },
      {
        get: 3,
        watch: 0,
        unknown: undefined,
        restarts: 0,
        backlog: 3,
        ready: 4,
        failed: undefined,
        pending: undefined,
        seconds: [0.5],
        bytes: [10, 20],
        byteCount: 2,
      },
    );
    assert.deepEqual(metrics.names, [
      "requests",
      "restarts",
      "backlog",
      "clusters",
      "seconds",
      "bytes",
    ]);
  });

  test("a gauge that was removed can be set again through the same child", () => {
    const metrics = new RecordingMetrics();
    const age = metrics
      .gauge({ name: "age", help: "Age.", labels: ["queue"] })
      .with({ queue: "a" });
    age.set(1);
    age.remove();
    assert.equal(metrics.value("age", { queue: "a" }), undefined);
    age.add(2);
    assert.equal(metrics.value("age", { queue: "a" }), 2);
  });

  test("a counter or histogram that was removed begins anew", () => {
    const metrics = new RecordingMetrics();
    const labels = ["app"] as const;
    const runs = metrics.counter({ name: "runs", help: "Runs.", labels });
    const seconds = metrics.histogram({ name: "seconds", help: "Seconds.", labels });
    runs.add({ app: "a" }, 3);
    seconds.observe({ app: "a" }, 2);
    runs.remove({ app: "a" });
    seconds.remove({ app: "a" });
    assert.equal(metrics.value("runs", { app: "a" }), undefined);
    assert.equal(metrics.value("seconds", { app: "a" }), undefined);
    runs.add({ app: "a" });
    assert.equal(metrics.value("runs", { app: "a" }), 1);
  });

  test("declaring a metric again gives the same one, and a different one is refused", () => {
    const metrics = new RecordingMetrics();
    metrics.counter({ name: "a", help: "A." }).add();
    metrics.counter({ name: "a", help: "A." }).add();
    assert.equal(metrics.value("a"), 2);
    assert.throws(() => metrics.gauge({ name: "a", help: "A." }), /declared twice/);
    assert.throws(
      () => metrics.counter({ name: "a", help: "A.", labels: ["b"] }),
      /declared twice/,
    );
  });

  test("misuse fails at once", () => {
    const metrics = new RecordingMetrics();
    const counter = metrics.counter({ name: "a", help: "A.", labels: ["b"] });
    assert.throws(() => counter.add({ b: "x" }, -1), /cannot fall/);
    assert.throws(() => counter.add({ b: "x", c: "y" } as { b: string }), /other labels/);
    assert.throws(() => metrics.value("unknown"), /no metric unknown/);
  });
});
