import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { StreamTurns } from "./stream-turns.ts";

suite("turns of streams", () => {
  test("a few go at once, the rest in the order in which they asked, with others in between", async () => {
    const turns = new StreamTurns();
    const told: (number | "others")[] = [];
    const write = async (number: number): Promise<void> => {
      const turn = turns.take();
      if (turn !== undefined) await turn;
      told.push(number);
    };
    const all = Array.from({ length: 100 }, (_, number) => write(number));
    assert.deepEqual(told.length, 32);
    const others = (async () => {
      for (let turn = 0; turn < 8; turn += 1) {
        await setImmediate();
        told.push("others");
      }
    })();
    await Promise.all([...all, others]);
    const numbers = told.filter((item) => item !== "others");
    assert.deepEqual(
      numbers,
      Array.from({ length: 100 }, (_, number) => number),
    );
    assert.ok(told.indexOf("others") < told.indexOf(99));
    assert.equal(told.slice(0, told.indexOf("others")).length, 64);
  });

  test("the next turn has room again", async () => {
    const turns = new StreamTurns();
    for (let number = 0; number < 32; number += 1) assert.equal(turns.take(), undefined);
    assert.notEqual(turns.take(), undefined);
    await setImmediate();
    await setImmediate();
    assert.equal(turns.take(), undefined);
  });
});
