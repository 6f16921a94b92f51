import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { ResourceTurns } from "./resource-turns.ts";

suite("turns of resources", () => {
  test("what comes during a run is one more run, with the latest", async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const runs: string[] = [];
    const turns = new ResourceTurns<string, string>({
      concurrency: 2,
      run: async (key, request) => {
        runs.push(`${key} ${request}`);
        const gate = Promise.withResolvers<void>();
        gates.push(gate);
        await gate.promise;
        return `done ${request}`;
      },
    });
    const first = turns.ask("a", "1");
    const others = ["2", "3", "4"].map((request) => turns.ask("a", request));
    gates[0]?.resolve();
    assert.equal(await first, "done 1");
    gates[1]?.resolve();
    assert.deepEqual(await Promise.all(others), ["done 4", "done 4", "done 4"]);
    assert.deepEqual(runs, ["a 1", "a 4"]);
    await turns.idle();
  });

  test("a failure reaches those who asked for that run, and the next run goes on", async () => {
    let runs = 0;
    const turns = new ResourceTurns<number, number>({
      concurrency: 1,
      run: async (_key, request) => {
        runs++;
        if (runs === 1) throw new Error("broken");
        return request;
      },
    });
    const [first, second] = [turns.ask("a", 1), turns.ask("a", 2)];
    await assert.rejects(first, { message: "broken" });
    assert.equal(await second, 2);
  });

  test("never two runs of a key, never more than allowed, and every request is followed by a run", async () => {
    const request = fc.record({ key: fc.constantFrom("a", "b", "c", "d"), turns: fc.nat(3) });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 30 }), async (requests) => {
        const running = new Set<string>();
        let begun = 0;
        const turns = new ResourceTurns<number, number>({
          concurrency: 2,
          run: async (key, wait) => {
            assert.ok(!running.has(key) && running.size < 2);
            running.add(key);
            const order = ++begun;
            for (let i = 0; i < wait; i++) await Promise.resolve();
            running.delete(key);
            return order;
          },
        });
        const answers: Promise<void>[] = [];
        for (const { key, turns: wait } of requests) {
          const before = begun;
          const wasRunning = running.has(key);
          answers.push(
            turns.ask(key, wait).then((order) => {
              // Not the run that was already going on: it may have read what was there before.
              if (wasRunning) assert.ok(order > before);
            }),
          );
          await Promise.resolve();
        }
        await Promise.all(answers);
        await turns.idle();
      }),
    );
  });
});
