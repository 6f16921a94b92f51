import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { Turns } from "./turns.ts";

const signal = new AbortController().signal;

suite("turns", () => {
  test("come in the order in which they were asked for, one at a time", async () => {
    const turns = new Turns();
    const log: string[] = [];
    const work = async (name: string): Promise<void> => {
      using _ = await turns.take("key", signal);
      log.push(`+${name}`);
      await Promise.resolve();
      log.push(`-${name}`);
    };
    await Promise.all(["a", "b", "c"].map(work));
    assert.deepEqual(log, ["+a", "-a", "+b", "-b", "+c", "-c"]);
  });

  test("of different names have nothing to do with each other", async () => {
    const turns = new Turns();
    using _ = await turns.take("a", signal);
    using _other = await turns.take("b", signal);
  });

  test("go on past one who has given up, but not before the one in front is done", async () => {
    const turns = new Turns();
    const controller = new AbortController();
    const first = await turns.take("key", signal);
    const second = turns.take("key", controller.signal);
    let isThird = false;
    const third = turns.take("key", signal).then((turn) => {
      isThird = true;
      return turn;
    });
    controller.abort(new Error("enough"));
    await assert.rejects(second, /enough/);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isThird, false);
    first[Symbol.dispose]();
    (await third)[Symbol.dispose]();
    using _ = await turns.take("key", signal);
  });
});
