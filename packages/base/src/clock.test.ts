import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { suite, test } from "node:test";

import { systemClock } from "./clock.ts";

suite("systemClock", () => {
  test("tells the wall time, and a time that never goes back", () => {
    assert.ok(Math.abs(systemClock.now() - Date.now()) < 1_000);
    const times = Array.from({ length: 1_000 }, () => systemClock.monotonic());
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  });

  test("a sleep is never shorter than asked", async (t) => {
    const sleeps = Array.from({ length: 50 }, async (_, i) => {
      const start = systemClock.monotonic();
      await systemClock.sleep(i / 10, t.signal);
      return systemClock.monotonic() - start - i / 10;
    });
    for (const surplusMs of await Promise.all(sleeps)) assert.ok(surplusMs >= 0, `${surplusMs}`);
  });

  test("a sleep rejects with the reason of its signal, before or while it sleeps", async () => {
    const reason = new Error("enough");
    await assert.rejects(systemClock.sleep(1e12, AbortSignal.abort(reason)), reason);
    const controller = new AbortController();
    const sleeping = systemClock.sleep(1e12, controller.signal);
    controller.abort(reason);
    await assert.rejects(sleeping, reason);
  });

  test("many sleepers may share a signal, and leave nothing on it", async () => {
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const remember = (warning: Error): void => void warnings.push(warning);
    process.on("warning", remember);
    await Promise.all(Array.from({ length: 100 }, () => systemClock.sleep(0, signal)));
    await systemClock.sleep(0, signal);
    process.off("warning", remember);
    assert.deepEqual(warnings, []);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  test("waits longer than a platform timer do not end at once", async (t) => {
    let fired = false;
    const controller = new AbortController();
    const sleeping = systemClock.sleep(2 ** 31, controller.signal);
    using _late = systemClock.after(2 ** 40, () => (fired = true));
    using _never = systemClock.after(Infinity, () => (fired = true));
    const timeouts = [systemClock.timeout(2 ** 31), systemClock.timeout(Infinity)];
    await systemClock.sleep(5, t.signal);
    assert.equal(fired, false);
    assert.deepEqual(
      timeouts.map(({ aborted }) => aborted),
      [false, false],
    );
    controller.abort();
    await assert.rejects(sleeping, { name: "AbortError" });
  });

  test("a timeout aborts with a TimeoutError", async () => {
    const signal = systemClock.timeout(0.5);
    // A timeout does not keep the process alive, so this test must.
    using _alive = systemClock.after(60_000, () => undefined);
    await once(signal, "abort");
    assert.equal((signal.reason as Error).name, "TimeoutError");
  });

  test("a callback that was disposed of is not called", async (t) => {
    let called = false;
    systemClock.after(0, () => (called = true))[Symbol.dispose]();
    await systemClock.sleep(2, t.signal);
    assert.equal(called, false);
  });

  test("a negative wait is none, and NaN is refused", async (t) => {
    await systemClock.sleep(-1, t.signal);
    await assert.rejects(systemClock.sleep(NaN, t.signal), RangeError);
    assert.throws(() => systemClock.timeout(NaN), RangeError);
    assert.throws(() => systemClock.after(NaN, () => undefined), RangeError);
  });
});
