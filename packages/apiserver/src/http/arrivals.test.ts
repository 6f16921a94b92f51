import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { Arrivals } from "./arrivals.ts";

suite("arrivals", () => {
  test("what came in one turn is answered in order, once all of it has come", async () => {
    const told: string[] = [];
    const arrivals = new Arrivals<string>((name) => void told.push(`${name} is answered`));
    for (const name of ["a", "b"]) {
      arrivals.add(name);
      told.push(`${name} has come`);
    }
    await setImmediate();
    assert.deepEqual(told, ["a has come", "b has come", "a is answered", "b is answered"]);
  });

  test("what comes while others are answered is answered in the next turn", async () => {
    const told: string[] = [];
    const arrivals: Arrivals<number> = new Arrivals((number) => {
      if (number < 3) arrivals.add(number + 1);
      told.push(`${number} is answered`);
    });
    arrivals.add(1);
    for (let turn = 1; turn <= 3; turn += 1) {
      await setImmediate();
      told.push(`turn ${turn} is over`);
    }
    assert.deepEqual(told, [
      "1 is answered",
      "turn 1 is over",
      "2 is answered",
      "turn 2 is over",
      "3 is answered",
      "turn 3 is over",
    ]);
  });
});
