import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import * as fc from "fast-check";

import { WorkQueue, type QueuePriority, type Run, type WorkQueueOptions } from "./work-queue.ts";

suite("WorkQueue", () => {
  const fixture = (options: Partial<WorkQueueOptions> = {}) => {
    const clock = new ManualClock();
    const queue = new WorkQueue({ clock, random: seededRandom("queue"), ...options });
    /** Takes what is ready, as keys. */
    const drain = async (): Promise<string[]> => {
      const keys: string[] = [];
      while (queue.ready > 0) {
        const run = await queue.take(never);
        keys.push(run.key);
        run.done();
      }
      return keys;
    };
    return { clock, queue, drain };
  };

  test("a key is in it once, however often it is added", async () => {
    const { queue, drain } = fixture();
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    assert.deepEqual(await drain(), ["a", "b"]);
  });

  test("what is added during its run is run once more, after it", async () => {
    const { queue, drain } = fixture();
    queue.add("a");
    const run = await queue.take(never);
    queue.add("a");
    queue.add("a");
    assert.equal(queue.ready, 0);
    run.done();
    assert.deepEqual(await drain(), ["a"]);
  });

  test("groups take turns, so that one with many keys does not hold up the others", async () => {
    const { queue, drain } = fixture({ groupOf: (key) => key.slice(0, 1) });
    for (const key of ["a1", "a2", "a3", "a4", "b1", "c1", "b2"]) queue.add(key);
    assert.deepEqual(await drain(), ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  });

  test("higher priorities go first, and adding raises a key", async () => {
    const { queue, drain } = fixture();
    queue.add("low", "low");
    queue.add("normal");
    queue.add("raised", "low");
    queue.add("raised", "high");
    queue.add("raised", "low");
    assert.deepEqual(await drain(), ["raised", "normal", "low"]);
  });

  test("the lowest is served once in sixteen turns", async () => {
    const { queue } = fixture();
    queue.add("low", "low");
    for (let i = 0; i < 40; i++) queue.add(`high ${i}`, "high");
    const order: string[] = [];
    for (let i = 0; i < 20; i++) {
      const run = await queue.take(never);
      order.push(run.key);
      run.done();
    }
    assert.equal(order.indexOf("low"), 15);
  });

  test("failures wait longer each time, up to the cap, with jitter, for ever", async () => {
    const { clock, queue } = fixture({ backoff: { initialMs: 100, maxMs: 1_000 }, restMs: 0 });
    queue.add("a");
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const run = await queue.take(never);
      assert.equal(run.failures, i);
      waits.push(run.failed());
      assert.equal(queue.delayed, 1);
      await clock.advance(1_000);
    }
    for (const [i, waitMs] of waits.entries()) {
      const full = Math.min(1_000, 100 * 2 ** i);
      assert.ok(waitMs >= full / 2 && waitMs <= full, `wait ${i} is ${waitMs}`);
    }
  });

  test("after a success the waits begin anew", async () => {
    const { clock, queue } = fixture({ backoff: { initialMs: 100, maxMs: 10_000 }, restMs: 0 });
    queue.add("a");
    for (let i = 0; i < 5; i++) {
      (await queue.take(never)).failed();
      await clock.advance(10_000);
    }
    (await queue.take(never)).done();
    queue.add("a");
    assert.ok((await queue.take(never)).failed() <= 100);
  });

  test("a change brings a failed key back sooner, but not before it has rested", async () => {
    const { clock, queue } = fixture({
      backoff: { initialMs: 30_000, maxMs: 60_000 },
      restMs: 1_000,
    });
    queue.add("a");
    (await queue.take(never)).failed();
    queue.add("a");
    assert.equal(queue.ready, 0);
    await clock.advance(999);
    assert.equal(queue.ready, 0);
    await clock.advance(1);
    assert.equal(queue.ready, 1);
  });

  test("a key that asked to be looked at later is ready then, or sooner if it is added", async () => {
    const { clock, queue, drain } = fixture();
    queue.add("a");
    (await queue.take(never)).done(5_000);
    await clock.advance(4_999);
    assert.equal(queue.ready, 0);
    await clock.advance(1);
    assert.deepEqual(await drain(), ["a"]);
    queue.add("b");
    (await queue.take(never)).done(5_000);
    queue.add("b");
    assert.deepEqual(await drain(), ["b"]);
    await clock.advance(10_000);
    assert.deepEqual([queue.ready, clock.pending], [0, 0]);
  });

  test("whoever waits gets the next key; whoever gives up leaves none behind", async () => {
    const { queue } = fixture();
    const stop = new AbortController();
    const given = queue.take(stop.signal);
    const waiting = queue.take(never);
    stop.abort(new Error("enough"));
    await assert.rejects(given, { message: "enough" });
    queue.add("a");
    assert.equal((await waiting).key, "a");
  });

  test("a run ends once", async () => {
    const { queue } = fixture();
    queue.add("a");
    const run = await queue.take(never);
    run.done();
    assert.throws(() => run.done(), /has ended already/);
  });

  test("whatever happens, a key runs alone, and everything added is run after it was added", async () => {
    const action = fc.oneof(
      fc.record({ type: fc.constant("add"), key: fc.nat(3), priority: fc.nat(2) }),
      fc.record({ type: fc.constant("end"), index: fc.nat(3), isFailure: fc.boolean() }),
      fc.record({ type: fc.constant("take") }),
      fc.record({ type: fc.constant("wait"), ms: fc.nat(400) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const { clock, queue } = fixture({
          backoff: { initialMs: 100, maxMs: 300 },
          restMs: 50,
          groupOf: (key) => String(Number(key) % 2),
        });
        const running: Run[] = [];
        /** What was added and not taken since. */
        const wanted = new Set<string>();
        const take = async (): Promise<void> => {
          if (queue.ready === 0) return;
          const run = await queue.take(never);
          assert.ok(!running.some(({ key }) => key === run.key), `${run.key} runs twice`);
          running.push(run);
          wanted.delete(run.key);
        };
        for (const step of actions) {
          if (step.type === "add" && "key" in step) {
            const priority = (["high", "normal", "low"] as QueuePriority[])[step.priority];
            queue.add(String(step.key), priority);
            wanted.add(String(step.key));
          } else if (step.type === "end" && "index" in step) {
            const [run] = running.splice(step.index, 1);
            if (step.isFailure) run?.failed();
            else run?.done();
          } else if (step.type === "wait" && "ms" in step) {
            await clock.advance(step.ms);
          } else {
            await take();
          }
        }
        for (const run of running.splice(0)) run.done();
        for (let round = 0; round < 8; round++) {
          await clock.advance(1_000);
          while (queue.ready > 0) {
            await take();
            running.pop()?.done();
          }
        }
        assert.deepEqual(
          {
            wanted: [...wanted],
            ready: queue.ready,
            delayed: queue.delayed,
            timers: clock.pending,
          },
          { wanted: [], ready: 0, delayed: 0, timers: 0 },
        );
      }),
      { numRuns: 60 },
    );
  });
});

const never = new AbortController().signal;
