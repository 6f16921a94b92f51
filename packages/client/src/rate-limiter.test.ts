import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";

import { RateLimiter, type Priority } from "./rate-limiter.ts";

suite("RateLimiter", () => {
  const fixture = (limit = { perSecond: 10, burst: 2, waitersMax: 100 }) => {
    const clock = new ManualClock();
    const limiter = new RateLimiter({ clock, limit });
    const admitted: string[] = [];
    const ask = (name: string, priority: Priority, signal: AbortSignal): Promise<void> =>
      limiter.acquire(priority, signal).then(() => void admitted.push(name));
    return { clock, limiter, admitted, ask };
  };

  test("lets a burst through and then one each tenth of a second", async (t) => {
    const { clock, admitted, ask } = fixture();
    const all = Promise.all(["a", "b", "c", "d"].map((name) => ask(name, "normal", t.signal)));
    await clock.settle();
    assert.deepEqual(admitted, ["a", "b"]);
    await clock.advance(100);
    assert.deepEqual(admitted, ["a", "b", "c"]);
    await clock.advance(100);
    await all;
    assert.deepEqual(admitted, ["a", "b", "c", "d"]);
  });

  test("lets the higher priority go first, and the system not wait at all", async (t) => {
    const { clock, admitted, ask } = fixture();
    const asked: [string, Priority][] = [
      ["first", "low"],
      ["second", "low"],
      ["low", "low"],
      ["normal", "normal"],
      ["high", "high"],
      ["system", "system"],
    ];
    const all = Promise.all(asked.map(([name, priority]) => ask(name, priority, t.signal)));
    await clock.advance(1_000);
    await all;
    assert.deepEqual(admitted, ["first", "second", "system", "high", "normal", "low"]);
  });

  test("lets nobody starve: of sixteen turns one goes to the lowest", async (t) => {
    const { clock, admitted, ask } = fixture();
    const stop = new AbortController();
    const high = Array.from({ length: 60 }, (_, i) => ask(`high ${i}`, "high", stop.signal));
    const low = ask("low", "low", t.signal);
    await clock.advance(2_000);
    await low;
    assert.ok(admitted.length < 30);
    stop.abort(new Error("enough"));
    await Promise.allSettled(high);
  });

  test("refuses beyond its bound, and forgets whoever gives up", async (t) => {
    const { clock, limiter, ask } = fixture({ perSecond: 1, burst: 1, waitersMax: 1 });
    await ask("taken", "normal", t.signal);
    const stop = new AbortController();
    const waiting = ask("waiting", "normal", stop.signal);
    await assert.rejects(ask("refused", "normal", t.signal), { code: "CLIENT_BUSY" });
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, { message: "enough" });
    assert.equal(limiter.waiting, 0);
    await clock.advance(1_000);
    await ask("next", "normal", t.signal);
  });
});
