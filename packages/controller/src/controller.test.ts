import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom } from "@keelson/base";
import { ManualClock, RecordingLog, RecordingMetrics } from "@keelson/base/testing";
import type { DynamicObject, ObjectRef } from "@keelson/client";
import { failures, type StatusError } from "@keelson/kube";

import { ObjectCache } from "./cache/object-cache.ts";
import { runController, type ControllerOptions } from "./controller.ts";
import { controllerMetrics } from "./metrics.ts";
import { done, requeueAfter, type Reconciler } from "./reconciler.ts";
import { watches, watchesOwned } from "./source.ts";

suite("runController", () => {
  test("runs nothing before its caches have their first state, then everything, then what changes", async () => {
    const { cache, clock, start, runs } = fixture(async () => done);
    await using _running = start();
    await clock.settle();
    assert.deepEqual(runs, []);
    cache.replace([object("a", 1), object("b", 2)], "5", { isBack: false });
    await clock.settle();
    cache.change("MODIFIED", object("b", 6));
    cache.change("DELETED", object("a", 7));
    await clock.settle();
    assert.deepEqual(runs, ["a", "b", "b", "a"]);
  });

  test("runs again what failed, what asked for it, and tells of failures", async () => {
    const failures: string[] = [];
    const { cache, clock, start, runs, log, metrics } = fixture(
      async ({ name }, _, count) => {
        if (name === "bad" && count < 3) throw new Error("not yet");
        return name === "later" && count === 1 ? requeueAfter(5_000) : done;
      },
      {
        backoff: { initialMs: 100, maxMs: 1_000 },
        onFailure: ({ name }, error, times) =>
          failures.push(`${name} ${(error as Error).message} ${times}`),
      },
    );
    await using _running = start();
    cache.replace([object("bad", 1), object("later", 2)], "5", { isBack: false });
    await clock.advance(10_000);
    assert.deepEqual(runs.toSorted(), ["bad", "bad", "bad", "later", "later"]);
    assert.deepEqual(failures, ["bad not yet 1", "bad not yet 2"]);
    assert.deepEqual(log.messages("warn"), ["reconciling failed", "reconciling failed"]);
    const count = (outcome: string): number | undefined =>
      metrics.value("keelson_controller_runs_total", { controller: "test", outcome });
    assert.deepEqual([count("done"), count("failed"), count("requeueAfter")], [2, 2, 1]);
  });

  test("a server that says when to come back is obeyed, whatever changes meanwhile", async () => {
    const { cache, clock, start, runs } = fixture(
      async (_ref, _signal, count) => {
        if (count === 1) throw busy(7);
        return done;
      },
      { backoff: { initialMs: 100, maxMs: 1_000, jitter: 0 } },
    );
    await using _running = start();
    cache.replace([object("a", 1)], "5", { isBack: false });
    await clock.advance(3_000);
    cache.change("MODIFIED", object("a", 6));
    await clock.advance(3_999);
    assert.equal(runs.length, 1);
    await clock.advance(101);
    assert.equal(runs.length, 2);
  });

  test("an owner is looked at when what it owns changes or leaves it", async () => {
    const { clock, start, runs } = fixture(async () => done, {
      sources: (cache) => [watchesOwned(cache, { apiVersion: "apps/v1", kind: "Deployment" })],
      prepare: (cache) => cache.replace([owned("pod", 1, "web")], "5", { isBack: false }),
    });
    const { cache } = start.context;
    await using _running = start();
    await clock.settle();
    cache.change("MODIFIED", owned("pod", 6, "other"));
    await clock.settle();
    assert.deepEqual(runs.toSorted(), ["other", "web", "web"]);
  });

  test("at a stop no run begins, those under way may end, and after the grace they are told", async () => {
    const ended = Promise.withResolvers<void>();
    const { cache, clock, start, runs } = fixture(
      async ({ name }, signal) => {
        if (name === "quick") await ended.promise;
        else await clock.sleep(60_000, signal);
        return done;
      },
      { workers: 2, graceMs: 3_000 },
    );
    const running = start();
    cache.replace([object("quick", 1), object("stuck", 2), object("waiting", 3)], "5", {
      isBack: false,
    });
    await clock.settle();
    let isOver = false;
    const over = running[Symbol.asyncDispose]().then(() => (isOver = true));
    ended.resolve();
    await clock.advance(2_999);
    assert.equal(isOver, false);
    await clock.advance(1);
    await over;
    assert.deepEqual([runs, clock.pending], [["quick", "stuck"], 0]);
  });

  test("a run that takes too long is told to end, and has failed", async () => {
    const { cache, clock, start, log } = fixture(
      async (_, signal) => {
        await clock.sleep(60_000, signal);
        return done;
      },
      { runTimeoutMs: 1_000 },
    );
    await using _running = start();
    cache.replace([object("slow", 1)], "5", { isBack: false });
    await clock.advance(1_000);
    const [entry] = log.entries.filter(({ level }) => level === "warn");
    assert.match(String(entry?.fields["error"]), /test has worked on slow for more than 1000 ms/);
  });

  test("one object is never run twice at once, however often it changes", async () => {
    let atOnce = 0;
    const { cache, clock, start, runs } = fixture(
      async (_, signal) => {
        atOnce += 1;
        assert.equal(atOnce, 1);
        await clock.sleep(100, signal);
        atOnce -= 1;
        return done;
      },
      { workers: 4 },
    );
    await using _running = start();
    cache.replace([object("a", 1)], "5", { isBack: false });
    for (let version = 6; version < 26; version++) {
      cache.change("MODIFIED", object("a", version));
      await clock.advance(10);
    }
    await clock.advance(1_000);
    assert.equal(runs.length, 3);
  });
});

function busy(retryAfterSeconds: number): StatusError {
  const failure = failures.tooManyRequests("later", retryAfterSeconds);
  assert.equal(failure.status.details?.retryAfterSeconds, retryAfterSeconds);
  return failure;
}

function fixture(
  reconcile: (...args: [...Parameters<Reconciler>, count: number]) => ReturnType<Reconciler>,
  more: Partial<Omit<ControllerOptions, "sources">> & {
    sources?: (cache: ObjectCache) => ControllerOptions["sources"];
    prepare?: (cache: ObjectCache) => void;
  } = {},
) {
  const { sources = (cache) => [watches(cache)], prepare, ...options } = more;
  const clock = new ManualClock();
  const log = new RecordingLog();
  const metrics = new RecordingMetrics();
  const cache = new ObjectCache();
  prepare?.(cache);
  const runs: string[] = [];
  const counts = new Map<string, number>();
  const counted: Reconciler = async (ref: ObjectRef, signal) => {
    runs.push(ref.name);
    const count = (counts.get(ref.name) ?? 0) + 1;
    counts.set(ref.name, count);
    return await reconcile(ref, signal, count);
  };
  const start = (): AsyncDisposable => {
    const stop = new AbortController();
    const running = runController(
      {
        name: "test",
        workers: 1,
        clock,
        random: seededRandom("controller"),
        log,
        metrics: controllerMetrics(metrics),
        ...options,
        sources: sources(cache),
        reconcile: counted,
      },
      stop.signal,
    );
    return {
      [Symbol.asyncDispose]: async () => {
        stop.abort(new Error("enough"));
        await running;
      },
    };
  };
  start.context = { cache };
  return { cache, clock, log, metrics, runs, start };
}

function object(name: string, version: number): DynamicObject {
  const metadata = { name, uid: name, resourceVersion: String(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

function owned(name: string, version: number, owner: string): DynamicObject {
  const reference = { apiVersion: "apps/v1beta1", kind: "Deployment", name: owner, uid: owner };
  const { metadata, ...rest } = object(name, version);
  return { ...rest, metadata: { ...metadata, ownerReferences: [reference] } };
}
