import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom, silentLog } from "@keelson/base";
import { ManualClock, RecordingMetrics } from "@keelson/base/testing";
import { failures } from "@keelson/kube";

import { controllerMetrics } from "../metrics.ts";
import { EventRecorder, type EventClient, type EventLimits } from "./event-recorder.ts";

suite("EventRecorder", () => {
  test("what is said again is counted in the same Event, now and then", async () => {
    const { recorder, clock, written, start } = fixture({});
    await using _running = start();
    recorder.record(happening("a", "no"));
    await clock.settle();
    for (let i = 0; i < 3; i++) recorder.record(happening("a", "no"));
    recorder.record(happening("b", "no"));
    await clock.settle();
    assert.deepEqual(written, ["create a no", "create b no"]);
    await clock.advance(10_000);
    assert.deepEqual(written.slice(2), ["count a 4"]);
    await clock.advance(20_000);
    assert.equal(written.length, 3, "nothing is written when nothing happens");
  });

  test("what is said again while it is being counted is counted the next time", async () => {
    const { recorder, clock, written, start, busy } = fixture({});
    await using _running = start();
    recorder.record(happening("a", "no"));
    await clock.settle();
    busy.add("a");
    recorder.record(happening("a", "no"));
    await clock.advance(10_000);
    await clock.advance(10_000);
    assert.deepEqual(written, ["create a no", "count a 2", "count a 3"]);
  });

  test("after a long silence it is said anew, and when its Event is gone it goes on in another", async () => {
    const { recorder, clock, written, start, gone } = fixture({ seriesMs: 60_000 });
    await using _running = start();
    recorder.record(happening("a", "no"));
    await clock.advance(70_000);
    recorder.record(happening("a", "no"));
    await clock.settle();
    gone.add("a");
    recorder.record(happening("a", "no"));
    await clock.advance(10_000);
    assert.deepEqual(written, ["create a no", "create a no", "create a no"]);
  });

  test("it remembers a bounded number, and says what is left when it is stopped", async () => {
    const { recorder, clock, written, metrics, start } = fixture({ happeningsMax: 3 });
    for (const name of ["a", "b", "c", "d", "e"]) recorder.record(happening(name, "no"));
    const running = start();
    await running[Symbol.asyncDispose]();
    assert.deepEqual(written, ["create c no", "create d no", "create e no"]);
    const lost = metrics.value("keelson_controller_events_total", { outcome: "lost" });
    assert.deepEqual([lost, clock.pending <= 1], [2, true]);
  });

  test("a create that is cut off by a stop and has happened nevertheless is not made twice", async () => {
    const { recorder, clock, written, metrics, start, unheard } = fixture({});
    const running = start();
    unheard.add("a");
    recorder.record(happening("a", "no"));
    await clock.settle();
    await running[Symbol.asyncDispose]();
    assert.deepEqual(written, ["create a no"]);
    const created = metrics.value("keelson_controller_events_total", { outcome: "created" });
    assert.equal(created, 1);
  });

  test("what is said again after a create that was cut off is counted too", async () => {
    const { recorder, clock, written, start, unheard } = fixture({});
    const running = start();
    unheard.add("a");
    recorder.record(happening("a", "no"));
    await clock.settle();
    recorder.record(happening("a", "no"));
    await running[Symbol.asyncDispose]();
    assert.deepEqual(written, ["create a no", "count a 2"]);
  });

  test("while nobody answers it waits, and says it when somebody does", async () => {
    const { recorder, clock, written, start, away } = fixture({});
    await using _running = start();
    away.add("a");
    recorder.record(happening("a", "no"));
    recorder.record(happening("b", "no"));
    await clock.advance(25_000);
    assert.deepEqual(written, ["create b no"]);
    away.delete("a");
    await clock.advance(10_000);
    assert.deepEqual(written, ["create b no", "create a no"]);
  });

  test("who never answers is not waited for for ever", async () => {
    const { recorder, clock, written, start, away, metrics } = fixture({});
    await using _running = start();
    away.add("a");
    recorder.record(happening("a", "no"));
    await clock.advance(130_000);
    away.delete("a");
    await clock.advance(60_000);
    const lost = metrics.value("keelson_controller_events_total", { outcome: "lost" });
    assert.deepEqual([written, lost], [[], 1]);
  });

  test("an Event that cannot be written is not tried again and stops nobody", async () => {
    const { recorder, clock, written, start, refused } = fixture({});
    await using _running = start();
    refused.add("a");
    recorder.record(happening("a", "no"));
    recorder.record(happening("b", "no"));
    await clock.advance(30_000);
    assert.deepEqual(written, ["create b no"]);
  });
});

interface EventParts {
  readonly regarding: { readonly name: string };
  readonly note: string;
  readonly metadata: { readonly name: string };
}

function fixture(limits: Partial<EventLimits>) {
  const clock = new ManualClock();
  const metrics = new RecordingMetrics();
  const written: string[] = [];
  const gone = new Set<string>();
  const refused = new Set<string>();
  const unheard = new Set<string>();
  const away = new Set<string>();
  const busy = new Set<string>();
  const names = new Set<string>();
  const client = {
    resource: async () => ({
      create: async (event: EventParts, _: object, signal: AbortSignal) => {
        const { name } = event.regarding;
        if (refused.has(name)) throw failures.badRequest("no");
        if (away.has(name)) throw failures.serviceUnavailable("away");
        if (names.has(event.metadata.name)) {
          throw failures.alreadyExists({ group: "", resource: "events" }, name);
        }
        names.add(event.metadata.name);
        written.push(`create ${name} ${event.note}`);
        if (unheard.delete(name)) await clock.sleep(60_000, signal);
        return event;
      },
      patch: async (ref: { name: string }, patch: { body: { series: { count: number } } }) => {
        const name = ref.name.slice(0, 1);
        if (gone.has(name)) throw failures.notFound({ group: "", resource: "events" }, name);
        written.push(`count ${name} ${patch.body.series.count}`);
        if (busy.has(name) && written.length < 20) recorder.record(happening(name, "no"));
      },
    }),
  } as unknown as EventClient;
  const recorder = new EventRecorder({
    client,
    controller: "keelson.dev/test",
    instance: "one",
    clock,
    random: seededRandom("events"),
    log: silentLog,
    metrics: controllerMetrics(metrics),
    limits,
  });
  const start = (): AsyncDisposable => {
    const stop = new AbortController();
    const running = recorder.run(stop.signal);
    return {
      [Symbol.asyncDispose]: async () => {
        stop.abort(new Error("enough"));
        await running;
      },
    };
  };
  return { recorder, clock, metrics, written, gone, refused, unheard, away, busy, start };
}

function happening(name: string, note: string) {
  const metadata = { name, namespace: "default", uid: name };
  const regarding = { apiVersion: "v1", kind: "ConfigMap", metadata };
  return { regarding, type: "Warning", reason: "Failed", action: "Apply", note } as const;
}
