import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { Backoff } from "./backoff.ts";
import { seededRandom } from "./random.ts";

const random = seededRandom("backoff");

suite("Backoff", () => {
  test("doubles up to the cap, and starts again after a reset", () => {
    const backoff = new Backoff({ initialMs: 100, maxMs: 1_000, jitter: 0, random });
    const waits = Array.from({ length: 6 }, () => backoff.next());
    assert.deepEqual(waits, [100, 200, 400, 800, 1_000, 1_000]);
    assert.equal(backoff.attempts, 6);
    backoff.reset();
    assert.deepEqual([backoff.attempts, backoff.next()], [0, 100]);
  });

  test("waits as long after a number of failures that was counted elsewhere", () => {
    const options = { initialMs: 100, maxMs: 1_000, jitter: 0, random };
    const waits = [0, 1, 2, 3, 4, 5, 2_000].map((failures) => Backoff.after(failures, options));
    assert.deepEqual(waits, [100, 100, 200, 400, 800, 1_000, 1_000]);
    const jittered = { ...options, jitter: 0.5 };
    const [one, other] = ["same", "same"].map((seed) => seededRandom(seed));
    assert.ok(one !== undefined && other !== undefined);
    const backoff = new Backoff({ ...jittered, random: one });
    for (const failures of [1, 2, 3]) {
      assert.equal(Backoff.after(failures, { ...jittered, random: other }), backoff.next());
    }
  });

  test("jitter shortens a wait by no more than its share", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 2_000 }),
        (jitter, attempts) => {
          const backoff = new Backoff({ initialMs: 10, maxMs: 60_000, factor: 3, jitter, random });
          for (let i = 0; i < attempts; i++) backoff.next();
          const fullMs = Math.min(60_000, 10 * 3 ** attempts);
          const waitMs = backoff.next();
          assert.ok(waitMs <= fullMs && waitMs >= Math.floor(fullMs * (1 - jitter)), `${waitMs}`);
        },
      ),
    );
  });

  test("the waits of many spread over the jitter", () => {
    const firsts = Array.from({ length: 1_000 }, () =>
      new Backoff({ initialMs: 1_000, maxMs: 1_000, random }).next(),
    );
    assert.ok(Math.min(...firsts) < 550);
    assert.ok(Math.max(...firsts) > 950);
  });

  test("options outside their range are refused", () => {
    const good = { initialMs: 1, maxMs: 2, random };
    for (const bad of [
      { initialMs: 0 },
      { initialMs: NaN },
      { maxMs: 0.5 },
      { factor: 0.5 },
      { jitter: -0.1 },
      { jitter: 1.1 },
    ]) {
      assert.throws(() => new Backoff({ ...good, ...bad }), RangeError);
    }
  });
});
