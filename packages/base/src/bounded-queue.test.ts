import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { BoundedQueue, QueueClosed } from "./bounded-queue.ts";

suite("BoundedQueue", () => {
  test("hands items over in order", async ({ signal }) => {
    const queue = new BoundedQueue<number>({ capacity: 3 });
    for (const item of [1, 2, 3]) await queue.push(item, signal);
    assert.equal(queue.size, 3);
    assert.deepEqual([await queue.take(signal), await queue.take(signal)], [1, 2]);
    assert.equal(queue.size, 1);
  });

  test("offer refuses when it is full", async ({ signal }) => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    assert.deepEqual([queue.offer(1), queue.offer(2)], [true, false]);
    await queue.take(signal);
    assert.ok(queue.offer(3));
  });

  test("pushes wait when it is full, and nobody overtakes them", async ({ signal }) => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    assert.ok(queue.offer(1));
    const pushes = [queue.push(2, signal), queue.push(3, signal)];
    const taken: number[] = [];
    for (let i = 0; i < 3; i++) {
      taken.push(await queue.take(signal));
      if (i === 0) assert.ok(!queue.offer(9));
    }
    await Promise.all(pushes);
    assert.deepEqual(taken, [1, 2, 3]);
  });

  test("takers are served in the order in which they came", async ({ signal }) => {
    const queue = new BoundedQueue<string>({ capacity: 1 });
    const takes = [queue.take(signal), queue.take(signal)];
    assert.ok(queue.offer("first"));
    assert.ok(queue.offer("second"));
    assert.deepEqual(await Promise.all(takes), ["first", "second"]);
    assert.equal(queue.size, 0);
  });

  test("an aborted push has not added its item", async ({ signal }) => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    const controller = new AbortController();
    assert.ok(queue.offer(1));
    const aborted = queue.push(2, controller.signal);
    const patient = queue.push(3, signal);
    controller.abort(new Error("enough"));
    await assert.rejects(aborted, { message: "enough" });
    await assert.rejects(queue.push(4, controller.signal), { message: "enough" });
    assert.deepEqual([await queue.take(signal), await queue.take(signal)], [1, 3]);
    await patient;
  });

  test("an aborted take has not taken an item", async ({ signal }) => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    const controller = new AbortController();
    const aborted = queue.take(controller.signal);
    const patient = queue.take(signal);
    controller.abort(new Error("enough"));
    await assert.rejects(aborted, { message: "enough" });
    assert.ok(queue.offer(1));
    assert.equal(await patient, 1);
    assert.ok(queue.offer(2));
    await assert.rejects(queue.take(controller.signal), { message: "enough" });
    assert.equal(queue.size, 1);
  });

  test("an abort after the hand-over loses nothing", async () => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    const controller = new AbortController();
    const take = queue.take(controller.signal);
    assert.ok(queue.offer(1));
    controller.abort();
    assert.equal(await take, 1);
  });

  test("close lets what is held be taken, and turns everybody else away", async ({ signal }) => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    assert.ok(queue.offer(1));
    const waiting = queue.push(2, signal);
    queue.close();
    queue.close();
    assert.ok(queue.closed);
    await assert.rejects(waiting, QueueClosed);
    await assert.rejects(queue.push(3, signal), { code: "QUEUE_CLOSED" });
    assert.ok(!queue.offer(3));
    assert.equal(await queue.take(signal), 1);
    await assert.rejects(queue.take(signal), QueueClosed);
  });

  test("close turns waiting takers away", async ({ signal }) => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    const waiting = queue.take(signal);
    queue.close();
    await assert.rejects(waiting, QueueClosed);
  });

  test("iteration ends when the queue is closed and empty", async () => {
    const queue = new BoundedQueue<number>({ capacity: 3 });
    for (const item of [1, 2, 3]) queue.offer(item);
    queue.close();
    assert.deepEqual(await Array.fromAsync(queue), [1, 2, 3]);
  });

  test("a stream just ends when its signal aborts", async () => {
    const queue = new BoundedQueue<number>({ capacity: 3 });
    const controller = new AbortController();
    queue.offer(1);
    const seen: number[] = [];
    for await (const item of queue.stream(controller.signal)) {
      seen.push(item);
      controller.abort();
    }
    assert.deepEqual(seen, [1]);
  });

  test("a queue must hold at least one item", () => {
    for (const capacity of [0, -1, 1.5, NaN, Infinity]) {
      assert.throws(() => new BoundedQueue({ capacity }), RangeError);
    }
  });

  test("any mix of pushes, takes and aborts keeps order, bound and every item", async () => {
    const anyStep = fc.constantFrom("push", "take", "abort push", "abort take", "offer");
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        runAgainstModel,
      ),
    );
  });

  test("ten thousand waiters may leave from anywhere", async () => {
    const queue = new BoundedQueue<number>({ capacity: 1 });
    queue.offer(0);
    const controllers = Array.from({ length: 10_000 }, () => new AbortController());
    const pushes = controllers.map(({ signal }, i) => queue.push(i, signal));
    for (const controller of controllers.toReversed()) controller.abort();
    const results = await Promise.allSettled(pushes);
    assert.ok(results.every(({ status }) => status === "rejected"));
    assert.equal(queue.size, 1);
  });
});

/** Every item accepted is taken once and in order; at the end nothing but what is held is missing. */
async function runAgainstModel(steps: readonly string[], capacity: number): Promise<void> {
  const queue = new BoundedQueue<number>({ capacity });
  const pushers: AbortController[] = [];
  const takers: AbortController[] = [];
  const accepted: number[] = [];
  const taken: number[] = [];
  const settled: Promise<void>[] = [];
  for (const [item, step] of steps.entries()) {
    const controller = new AbortController();
    switch (step) {
      case "push":
        pushers.push(controller);
        settled.push(
          queue.push(item, controller.signal).then(
            () => void accepted.push(item),
            () => undefined,
          ),
        );
        break;
      case "take":
        takers.push(controller);
        settled.push(
          queue.take(controller.signal).then(
            (value) => void taken.push(value),
            () => undefined,
          ),
        );
        break;
      case "offer":
        if (queue.offer(item)) accepted.push(item);
        break;
      default:
        (step === "abort push" ? pushers : takers).shift()?.abort();
    }
    assert.ok(queue.size <= capacity);
  }
  const held = queue.size;
  for (const controller of takers) controller.abort();
  for (const controller of pushers) controller.abort();
  await Promise.all(settled);
  for (let i = 0; i < held; i++) taken.push(await queue.take(new AbortController().signal));
  assert.deepEqual(
    taken,
    accepted.toSorted((a, b) => a - b),
  );
}
