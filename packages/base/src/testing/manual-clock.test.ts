import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { ManualClock } from "./manual-clock.ts";

suite("ManualClock", () => {
  test("stands still until it is advanced", async () => {
    const clock = new ManualClock({ now: 1_000 });
    assert.deepEqual([clock.now(), clock.monotonic()], [1_000, 0]);
    await clock.advance(50);
    assert.deepEqual([clock.now(), clock.monotonic()], [1_050, 50]);
  });

  test("fires in the order of time, and of making where times are equal", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 12 }),
        async (waits) => {
          const clock = new ManualClock();
          const fired: [at: number, index: number][] = [];
          for (const [index, waitMs] of waits.entries()) {
            clock.after(waitMs, () => fired.push([clock.monotonic(), index]));
          }
          await clock.advance(5);
          const expected = waits.map((waitMs, index): [number, number] => [waitMs, index]);
          assert.deepEqual(
            fired,
            expected.toSorted(([a], [b]) => a - b),
          );
          assert.equal(clock.pending, 0);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("a loop that sleeps again is served within the same advance", async (t) => {
    const clock = new ManualClock();
    const ticks: number[] = [];
    const loop = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(1_000, t.signal);
        await new Promise((resolve) => setImmediate(resolve));
        ticks.push(clock.monotonic());
      }
    };
    loop().catch(() => undefined);
    await clock.advance(3_500);
    assert.deepEqual(ticks, [1_000, 2_000, 3_000]);
    assert.equal(clock.nextInMs, 500);
  });

  test("a sleep that is aborted or a callback that is disposed of leaves nothing behind", async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(10, controller.signal);
    const late = clock.after(5, () => assert.fail("it was disposed of"));
    assert.equal(clock.pending, 2);
    controller.abort(new Error("enough"));
    await assert.rejects(sleeping, { message: "enough" });
    late[Symbol.dispose]();
    late[Symbol.dispose]();
    assert.equal(clock.pending, 0);
    assert.equal(clock.nextInMs, undefined);
    await clock.advance(10);
  });

  test("a timeout aborts with a TimeoutError when its time has come", async () => {
    const clock = new ManualClock();
    const signal = clock.timeout(10);
    await clock.advance(9);
    assert.equal(signal.aborted, false);
    await clock.advance(1);
    assert.ok(signal.reason instanceof DOMException);
    assert.equal(signal.reason.name, "TimeoutError");
  });

  test("the wall clock can be moved alone", async () => {
    const clock = new ManualClock({ now: 1_000 });
    clock.after(1, () => assert.fail("no time has passed"));
    clock.shiftWall(-500);
    await clock.settle();
    assert.deepEqual([clock.now(), clock.monotonic()], [500, 0]);
  });

  test("advance rejects with what a callback throws", async () => {
    const clock = new ManualClock();
    clock.after(1, () => {
      throw new Error("broken");
    });
    await assert.rejects(clock.advance(1), { message: "broken" });
  });
});
