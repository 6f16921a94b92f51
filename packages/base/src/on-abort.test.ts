import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { suite, test } from "node:test";

import { onAbort } from "./on-abort.ts";

suite("onAbort", () => {
  test("calls everybody once, in order, and leaves nothing on the signal", () => {
    const controller = new AbortController();
    const called: string[] = [];
    const twice = (): void => void called.push("twice");
    onAbort(controller.signal, () => called.push("first"));
    onAbort(controller.signal, twice);
    onAbort(controller.signal, twice);
    assert.equal(getEventListeners(controller.signal, "abort").length, 1);
    controller.abort();
    assert.deepEqual(called, ["first", "twice", "twice"]);
    assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
  });

  test("does not call who was taken back, also by another callback", () => {
    const controller = new AbortController();
    const called: string[] = [];
    const early = onAbort(controller.signal, () => called.push("early"));
    onAbort(controller.signal, () => {
      called.push("first");
      late[Symbol.dispose]();
    });
    const late = onAbort(controller.signal, () => called.push("late"));
    early[Symbol.dispose]();
    early[Symbol.dispose]();
    controller.abort();
    assert.deepEqual(called, ["first"]);
  });

  test("does not listen while nobody waits, and listens again for the next", () => {
    const controller = new AbortController();
    let called = false;
    onAbort(controller.signal, () => undefined)[Symbol.dispose]();
    assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
    onAbort(controller.signal, () => (called = true));
    controller.abort();
    assert.ok(called);
  });

  test("calls who comes after the abort, but not at once, and not if taken back", async () => {
    const signal = AbortSignal.abort();
    const called: string[] = [];
    onAbort(signal, () => called.push("late"));
    onAbort(signal, () => called.push("taken back"))[Symbol.dispose]();
    assert.deepEqual(called, []);
    await Promise.resolve();
    assert.deepEqual(called, ["late"]);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });
});
