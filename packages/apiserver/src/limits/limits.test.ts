import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { StatusError } from "@keelson/kube";
import * as fc from "fast-check";

import { FairQueue, type FairQueueLimits, type Permit } from "./fair-queue.ts";
import { LongRunning } from "./long-running.ts";

const small: FairQueueLimits = {
  runningMax: 4,
  runningPerUserMax: 2,
  waitingMax: 8,
  waitingPerUserMax: 3,
  waitMsMax: 1000,
};

const refused = (error: unknown): boolean => {
  assert.ok(error instanceof StatusError);
  const { code, message, details } = error.status;
  assert.deepEqual(
    { code, message, details },
    {
      code: 429,
      message: "Too many requests, please try again later.",
      details: { retryAfterSeconds: 1 },
    },
  );
  return true;
};

suite("the fair queue", () => {
  test("runs at once what there is room for", async () => {
    const controller = new AbortController();
    const queue = new FairQueue({ limits: small, clock: new ManualClock() });
    for (const user of ["a", "a", "b", "b"]) {
      assert.ok(!(queue.enter(user, controller.signal) instanceof Promise));
    }
    assert.equal(queue.running, 4);
    const waits = queue.enter("c", controller.signal) as Promise<Permit>;
    assert.deepEqual([queue.running, queue.waiting], [4, 1]);
    controller.abort(new Error("enough"));
    await assert.rejects(waits, /enough/);
  });

  test("users take turns, each user's requests in order", async (t) => {
    const queue = new FairQueue({ limits: { ...small, runningMax: 1 }, clock: new ManualClock() });
    const order: string[] = [];
    let last: Permit = await queue.enter("x", t.signal);
    const run = async (user: string, name: string): Promise<void> => {
      last = await queue.enter(user, t.signal);
      order.push(name);
    };
    const all = [run("a", "a1"), run("a", "a2"), run("a", "a3"), run("b", "b1"), run("c", "c1")];
    for (const _ of all) {
      last[Symbol.dispose]();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    assert.deepEqual(order, ["a1", "b1", "c1", "a2", "a3"]);
  });

  test("a user who has all it may have does not keep the room from others", async (t) => {
    const queue = new FairQueue({ limits: small, clock: new ManualClock() });
    const first = queue.enter("loud", t.signal) as Permit;
    await queue.enter("loud", t.signal);
    const third = queue.enter("loud", t.signal);
    assert.ok(third instanceof Promise);
    assert.ok(!(queue.enter("quiet", t.signal) instanceof Promise));
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await third;
    assert.deepEqual([queue.running, queue.waiting], [3, 0]);
  });

  test("who waits too long, or finds too many waiting, is refused", async (t) => {
    const clock = new ManualClock();
    const queue = new FairQueue({ limits: small, clock });
    for (const user of ["a", "a", "b", "b"]) await queue.enter(user, t.signal);
    const waits = ["a", "a", "a"].map(async (user) => await queue.enter(user, t.signal));
    assert.throws(() => queue.enter("a", t.signal), refused);
    const outcomes = Promise.allSettled(waits);
    await clock.advance(1000);
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === "rejected");
      refused(outcome.reason);
    }
    assert.deepEqual([queue.running, queue.waiting, clock.pending], [4, 0, 0]);
  });

  test("who leaves while waiting makes room in the line", async () => {
    const clock = new ManualClock();
    const queue = new FairQueue({ limits: { ...small, runningMax: 1 }, clock });
    const controller = new AbortController();
    const open = new AbortController().signal;
    const first = queue.enter("a", open) as Permit;
    const left = queue.enter("b", controller.signal) as Promise<Permit>;
    const next = queue.enter("c", open);
    controller.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    first[Symbol.dispose]();
    await next;
    assert.deepEqual([queue.running, queue.waiting, clock.pending], [1, 0, 0]);
  });

  test("limits hold, nobody who may run waits, and nothing is left over", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            act: fc.constantFrom("enter", "enter", "finish", "abort", "time"),
            user: fc.constantFrom("a", "b", "c", "d"),
            pick: fc.nat(20),
          }),
          { maxLength: 60 },
        ),
        async (steps) => {
          const clock = new ManualClock();
          const queue = new FairQueue({ limits: small, clock });
          const running = new Map<Permit, string>();
          const pending = new Map<AbortController, string>();
          for (const { act, user, pick } of steps) {
            if (act === "enter") await enter(user);
            else if (act === "time") await clock.advance(400);
            else if (act === "finish") {
              const [permit] = [...running.keys()].slice(pick % Math.max(running.size, 1));
              if (permit !== undefined) running.delete(permit);
              permit?.[Symbol.dispose]();
            } else {
              const [controller] = [...pending.keys()].slice(pick % Math.max(pending.size, 1));
              controller?.abort(new Error("left"));
            }
            await clock.settle();
            const per = Map.groupBy(running.values(), (name) => name);
            assert.equal(queue.running, running.size);
            assert.equal(queue.waiting, pending.size);
            assert.ok(running.size <= small.runningMax);
            for (const users of per.values()) assert.ok(users.length <= small.runningPerUserMax);
            if (running.size < small.runningMax) {
              for (const name of pending.values()) {
                assert.equal(per.get(name)?.length, small.runningPerUserMax);
              }
            }
          }
          for (const controller of pending.keys()) controller.abort(new Error("end"));
          for (const permit of running.keys()) permit[Symbol.dispose]();
          await clock.settle();
          assert.deepEqual([queue.running, queue.waiting, clock.pending], [0, 0, 0]);

          async function enter(user: string): Promise<void> {
            const controller = new AbortController();
            try {
              const entered = queue.enter(user, controller.signal);
              if (!(entered instanceof Promise)) {
                running.set(entered, user);
                return;
              }
              pending.set(controller, user);
              entered.then(
                (permit) => {
                  pending.delete(controller);
                  running.set(permit, user);
                },
                () => pending.delete(controller),
              );
            } catch (error) {
              refused(error);
            }
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test("beside a flood, a quiet client is served as if there were none", async () => {
    const clock = new ManualClock();
    const random = seededRandom("flood");
    const limits = { ...small, waitingMax: 1000, waitingPerUserMax: 500, runningPerUserMax: 4 };
    const queue = new FairQueue({ limits, clock });
    const signal = new AbortController().signal;
    const served = new Map<string, number[]>();
    const request = async (user: string): Promise<void> => {
      const startMs = clock.monotonic();
      using _ = await queue.enter(user, signal);
      await clock.sleep(10, signal);
      served.set(user, [...(served.get(user) ?? []), clock.monotonic() - startMs]);
    };
    const all: Promise<void>[] = [];
    for (let i = 0; i < 80; i++) all.push(request("loud"));
    for (let tick = 0; tick < 50; tick++) {
      for (let i = 0; i < 3; i++) all.push(request("loud"));
      if (random.integer(5) === 0) all.push(request("quiet"));
      await clock.advance(10);
    }
    const done = Promise.allSettled(all);
    await clock.advance(5_000);
    await done;
    const quiet = served.get("quiet") ?? [];
    assert.ok(quiet.length > 3);
    // One turn of the four that run, and its own: never the length of the flood.
    assert.ok(Math.max(...quiet) <= 20, `${Math.max(...quiet)} ms`);
  });
});

suite("long-running requests", () => {
  test("count apart, for all and for each", () => {
    const watches = new LongRunning({ runningMax: 3, runningPerUserMax: 2 });
    const first = watches.enter("a");
    watches.enter("a");
    assert.throws(() => watches.enter("a"), refused);
    watches.enter("b");
    assert.throws(() => watches.enter("c"), refused);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    assert.equal(watches.running, 2);
    watches.enter("c");
  });
});
