import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { suite, test } from "node:test";

import { isCancellation, TaskFailed, TaskScope } from "./task-scope.ts";
import { ManualClock } from "./testing/manual-clock.ts";

const never = new AbortController().signal;

suite("TaskScope", () => {
  test("join waits for all tasks, those spawned meanwhile included", async () => {
    const clock = new ManualClock();
    const ended: string[] = [];
    await using scope = new TaskScope(never);
    scope.spawn("first", async (signal) => {
      await clock.sleep(10, signal);
      scope.spawn("second", async (signal) => {
        await clock.sleep(10, signal);
        ended.push("second");
      });
      ended.push("first");
    });
    const joined = scope.join();
    await clock.advance(20);
    await joined;
    assert.deepEqual(ended, ["first", "second"]);
  });

  test("join of a scope without tasks resolves", async () => {
    await using scope = new TaskScope(never);
    await scope.join();
  });

  test("one failure cancels the rest, and join rejects with it once all have ended", async () => {
    const clock = new ManualClock();
    const cause = new Error("disk full");
    let cleanedUp = false;
    await using scope = new TaskScope(never);
    scope.spawn("reader", async (signal) => {
      try {
        await clock.sleep(1_000, signal);
      } finally {
        await Promise.resolve();
        cleanedUp = true;
      }
    });
    scope.spawn("writer", () => Promise.reject(cause));
    await assert.rejects(scope.join(), (error) => {
      assert.ok(error instanceof TaskFailed);
      assert.equal(error.message, "task writer failed: disk full");
      assert.deepEqual([error.code, error.task, error.cause], ["TASK_FAILED", "writer", cause]);
      return true;
    });
    assert.ok(cleanedUp);
    assert.ok(scope.signal.aborted);
    await scope.join(); // A failure is thrown once.
  });

  test("a task that throws before its first await fails like any other", async () => {
    await using scope = new TaskScope(never);
    scope.spawn("hasty", () => {
      throw new Error("at once");
    });
    await assert.rejects(scope.join(), { message: "task hasty failed: at once" });
  });

  test("several failures are an AggregateError, in order, with the first as cause", async () => {
    const clock = new ManualClock();
    await using scope = new TaskScope(never);
    scope.spawn("stubborn", async (signal) => {
      await clock.sleep(1_000, signal).catch(() => {
        throw new Error("cannot clean up");
      });
    });
    scope.spawn("broken", () => Promise.reject(new Error("broken")));
    await assert.rejects(scope.join(), (error) => {
      assert.ok(error instanceof AggregateError);
      assert.equal(error.message, "2 tasks failed: broken, stubborn");
      assert.deepEqual(
        error.errors.map(({ task }: TaskFailed) => task),
        ["broken", "stubborn"],
      );
      assert.equal(error.cause, error.errors[0]);
      return true;
    });
  });

  test("an abort of the parent cancels all and is no failure", async () => {
    const clock = new ManualClock();
    const parent = new AbortController();
    await using scope = new TaskScope(parent.signal);
    scope.spawn("rejects with the reason", (signal) => clock.sleep(1_000, signal));
    scope.spawn("wraps the reason", (signal) =>
      clock.sleep(1_000, signal).catch((cause: unknown) => {
        throw new Error("request failed", { cause });
      }),
    );
    scope.spawn("just ends", (signal) => clock.sleep(1_000, signal).catch(() => undefined));
    parent.abort(new Error("shutting down"));
    await scope.join();
    assert.equal((scope.signal.reason as Error).message, "shutting down");
  });

  test("what a task throws besides the cancellation is a failure even then", async () => {
    const parent = new AbortController();
    await using scope = new TaskScope(parent.signal);
    scope.spawn("releases", async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new Error("lease is lost");
    });
    parent.abort();
    await assert.rejects(scope.join(), { message: "task releases failed: lease is lost" });
  });

  test("an AbortError is a failure when nobody cancelled", async () => {
    await using scope = new TaskScope(never);
    scope.spawn("odd", () => Promise.reject(new DOMException("from elsewhere", "AbortError")));
    await assert.rejects(scope.join(), TaskFailed);
  });

  test("leaving the block cancels and awaits all", async () => {
    const clock = new ManualClock();
    const ended: string[] = [];
    {
      await using scope = new TaskScope(never);
      for (const name of ["a", "b"]) {
        scope.spawn(name, async (signal) => {
          await clock.sleep(1_000, signal).catch(() => undefined);
          await clock.settle();
          ended.push(name);
        });
      }
    }
    assert.deepEqual(ended, ["a", "b"]);
    assert.equal(clock.pending, 0);
  });

  test("leaving the block throws a failure that no join has thrown", async () => {
    await assert.rejects(async () => {
      await using scope = new TaskScope(never);
      scope.spawn("broken", () => Promise.reject(new Error("broken")));
    }, TaskFailed);
  });

  test("nothing starts in a cancelled scope, and spawning in one that has ended throws", async () => {
    let started = false;
    const scope = new TaskScope(AbortSignal.abort());
    scope.spawn("late", async () => void (started = true));
    await scope.join();
    assert.equal(started, false);
    await scope[Symbol.asyncDispose]();
    assert.throws(() => scope.spawn("later", async () => undefined), /later/);
  });

  test("a parent that lives on forgets the scopes that have ended", async () => {
    const parent = new AbortController();
    await using running = new TaskScope(parent.signal);
    await new TaskScope(parent.signal)[Symbol.asyncDispose]();
    assert.equal(getEventListeners(parent.signal, "abort").length, 1);
    assert.equal(running.signal.aborted, false);
  });
});

test("isCancellation follows causes, also in a circle", () => {
  const reason = new Error("stop");
  const signal = AbortSignal.abort(reason);
  const circle = new Error("circle");
  circle.cause = circle;
  assert.ok(isCancellation(reason, signal));
  assert.ok(isCancellation(new Error("a", { cause: new Error("b", { cause: reason }) }), signal));
  assert.ok(!isCancellation(circle, signal));
  assert.ok(!isCancellation("stop", signal));
  assert.ok(!isCancellation(reason, never));
});
