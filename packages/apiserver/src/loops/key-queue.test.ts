import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom, silentLog } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import * as fc from "fast-check";

import { KeyQueue } from "./key-queue.ts";

type Step =
  | { readonly do: "add"; readonly key: string }
  | { readonly do: "addAfter"; readonly key: string; readonly ms: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "finish"; readonly outcome: "done" | "again" | "throw" };

const key = fc.constantFrom("a", "b", "c");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("add" as const), key }),
  fc.record({ do: fc.constant("addAfter" as const), key, ms: fc.nat(100) }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.nat(200) }),
  fc.record({
    do: fc.constant("finish" as const),
    outcome: fc.constantFrom("done" as const, "again" as const, "throw" as const),
  }),
);

suite("the queue of keys", () => {
  test("never looks at a key twice at once, and looks at each after its last addition", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = new ManualClock();
        const stop = new AbortController();
        const running = new Map<string, PromiseWithResolvers<number | undefined>>();
        /** Additions that no look has begun after. */
        const wanted = new Set<string>();
        const queue = new KeyQueue({
          name: "test",
          clock,
          random: seededRandom(1),
          log: silentLog,
          workers: 2,
          look: (one) => {
            assert.ok(!running.has(one), `${one} is looked at twice at once`);
            assert.ok(running.size < 2);
            wanted.delete(one);
            const look = Promise.withResolvers<number | undefined>();
            running.set(one, look);
            return look.promise;
          },
        });
        const finish = async (outcome: "done" | "again" | "throw"): Promise<void> => {
          const [first] = running;
          if (first === undefined) return;
          const [one, look] = first;
          running.delete(one);
          if (outcome === "throw") look.reject(new Error("not yet"));
          else look.resolve(outcome === "again" ? 10 : undefined);
          await clock.settle();
        };
        const run = queue.run(stop.signal);
        for (const next of steps) {
          if (next.do === "add" || next.do === "addAfter") wanted.add(next.key);
          if (next.do === "add") queue.add(next.key);
          else if (next.do === "addAfter") queue.addAfter(next.key, next.ms);
          else if (next.do === "pass") await clock.advance(next.ms);
          else await finish(next.outcome);
          assert.ok(queue.size <= 6, "the queue holds more than its keys");
        }
        // A queue that is left alone comes to rest with nothing forgotten.
        for (let round = 0; round < 100 && queue.size > 0; round += 1) {
          await clock.advance(30_000);
          await finish("done");
        }
        assert.deepEqual([queue.size, [...wanted]], [0, []]);
        stop.abort();
        await run;
        assert.equal(clock.pending, 0);
      }),
      { numRuns: 60 },
    );
  });

  test("waits longer after each failure, up to half a minute, and begins anew after a success", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const looks: number[] = [];
    let failures = 14;
    const queue = new KeyQueue({
      name: "test",
      clock,
      random: seededRandom(1),
      log: silentLog,
      workers: 1,
      look: () => {
        looks.push(clock.monotonic());
        if ((failures -= 1) > 0) return Promise.reject(new Error("not yet"));
        return Promise.resolve(undefined);
      },
    });
    const run = queue.run(stop.signal);
    queue.add("a");
    await clock.advance(600_000);
    const waits = looks.slice(1).map((at, index) => at - (looks[index] ?? 0));
    assert.equal(looks.length, 14);
    assert.ok(waits.every((ms) => ms <= 30_000));
    assert.ok((waits.at(-1) ?? 0) > 10 * (waits[0] ?? 0));
    stop.abort();
    await run;
  });
});
