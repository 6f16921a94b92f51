import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { suite, test } from "node:test";

import { forEachAtOnce } from "./for-each-at-once.ts";

/** Work that ends when it is told to, and what has begun of it. */
function gated() {
  const begun: number[] = [];
  const gates = new Map<number, PromiseWithResolvers<void>>();
  const signals: AbortSignal[] = [];
  const run = async (item: number, signal: AbortSignal): Promise<void> => {
    begun.push(item);
    signals.push(signal);
    const gate = Promise.withResolvers<void>();
    gates.set(item, gate);
    await gate.promise;
  };
  return { begun, gates, signals, run };
}

suite("forEachAtOnce", () => {
  const never = new AbortController().signal;

  test("runs for each in their order, so many at once", async () => {
    const { begun, gates, run } = gated();
    const all = forEachAtOnce([1, 2, 3, 4], { atOnce: 2, run }, never);
    assert.deepEqual(begun, [1, 2]);
    gates.get(2)?.resolve();
    await turn();
    assert.deepEqual(begun, [1, 2, 3]);
    for (const item of [1, 3]) gates.get(item)?.resolve();
    await turn();
    gates.get(4)?.resolve();
    await all;
    assert.deepEqual(begun, [1, 2, 3, 4]);
    await forEachAtOnce([], { atOnce: 2, run }, never);
  });

  test("begins nothing after a failure, and tells of the first when all have ended", async () => {
    const { begun, gates, signals, run } = gated();
    let isOver = false;
    const all = forEachAtOnce([1, 2, 3], { atOnce: 2, run }, never).finally(() => (isOver = true));
    const first = new Error("first");
    const rejected = assert.rejects(all, first);
    gates.get(1)?.reject(first);
    await turn();
    assert.deepEqual([begun, isOver, signals[1]?.aborted], [[1, 2], false, true]);
    gates.get(2)?.reject(new Error("second"));
    await rejected;
  });

  test("begins nothing after an abort, and rejects with its reason", async () => {
    const { begun, gates, run } = gated();
    const stop = new AbortController();
    const rejected = assert.rejects(
      forEachAtOnce([1, 2], { atOnce: 1, run }, stop.signal),
      new Error("enough"),
    );
    stop.abort(new Error("enough"));
    gates.get(1)?.resolve();
    await rejected;
    assert.deepEqual(begun, [1]);
  });
});
