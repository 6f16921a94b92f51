import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { untilAbort } from "./until-abort.ts";

suite("untilAbort", () => {
  test("gives what the work gives, or throws", async (t) => {
    assert.equal(await untilAbort(Promise.resolve(1), t.signal), 1);
    await assert.rejects(untilAbort(Promise.reject(new Error("no")), t.signal), { message: "no" });
  });

  test("an abort ends the waiting of one, and the work goes on for the others", async (t) => {
    const stop = new AbortController();
    const { promise: work, resolve } = Promise.withResolvers<number>();
    const given = untilAbort(work, stop.signal);
    const kept = untilAbort(work, t.signal);
    stop.abort(new Error("enough"));
    await assert.rejects(given, { message: "enough" });
    resolve(2);
    assert.equal(await kept, 2);
  });

  test("work that fails when nobody waits any more fails nobody", async () => {
    const stop = new AbortController();
    const { promise: work, reject } = Promise.withResolvers<number>();
    const given = untilAbort(work, stop.signal);
    stop.abort(new Error("enough"));
    await assert.rejects(given, { message: "enough" });
    await assert.rejects(untilAbort(work, stop.signal), { message: "enough" });
    const { promise: other, reject: rejectOther } = Promise.withResolvers<number>();
    await assert.rejects(untilAbort(other, stop.signal), { message: "enough" });
    reject(new Error("away"));
    rejectOther(new Error("away"));
    // A rejection that nobody hears is told after this turn, and would fail the test.
    await new Promise((resolve) => setImmediate(resolve));
  });
});
