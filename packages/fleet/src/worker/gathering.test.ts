import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DatabaseTimeout, DatabaseUnavailable } from "@keelson/database";
import { Gathering } from "./gathering.ts";

/** Calls that wait to be answered, by what they were given. */
function start({ atOnceMax = 1, togetherMax = 3 } = {}) {
  const calls: { items: readonly string[]; answer: PromiseWithResolvers<readonly unknown[]> }[] =
    [];
  const alone: string[] = [];
  const gathering = new Gathering<string, unknown>({
    together: (items) => {
      const answer = Promise.withResolvers<readonly unknown[]>();
      calls.push({ items, answer });
      return answer.promise;
    },
    alone: async (item) => {
      alone.push(item);
      if (item === "bad") throw new RangeError(item);
      return `${item} alone`;
    },
    atOnceMax,
    togetherMax,
  });
  return { gathering, calls, alone };
}

suite("gathering", () => {
  test("the first goes at once, and who comes meanwhile goes together after it, so many at a time", async () => {
    const { gathering, calls } = start();
    const results = ["a", "b", "c", "d", "e"].map((item) => gathering.run(item));
    assert.deepEqual(
      calls.map(({ items }) => items),
      [["a"]],
    );
    calls[0]?.answer.resolve([1]);
    assert.equal(await results[0], 1);
    calls[1]?.answer.resolve([2, 3, 4]);
    assert.deepEqual(await Promise.all(results.slice(1, 4)), [2, 3, 4]);
    calls[2]?.answer.resolve([5]);
    assert.equal(await results[4], 5);
    assert.deepEqual(
      calls.map(({ items }) => items),
      [["a"], ["b", "c", "d"], ["e"]],
    );
  });

  test("a call that hangs keeps nobody who comes after it, nor does whoever goes alone", async () => {
    const { gathering, calls, alone } = start({ atOnceMax: 2 });
    void gathering.run("hangs");
    const [left, other] = [gathering.run("left"), gathering.run("other")];
    calls[1]?.answer.resolve([undefined]);
    assert.equal(await left, "left alone");
    calls[2]?.answer.resolve([1]);
    assert.equal(await other, 1);
    assert.deepEqual(alone, ["left"]);
  });

  test("what goes wrong with many is each one's own; a database that is away is everybody's", async () => {
    const { gathering, calls } = start();
    const first = gathering.run("first");
    const all = ["a", "bad"].map((item) => gathering.run(item));
    calls[0]?.answer.resolve([1]);
    await first;
    calls[1]?.answer.reject(new DatabaseTimeout("slow"));
    assert.deepEqual(await Promise.allSettled(all), [
      { status: "fulfilled", value: "a alone" },
      { status: "rejected", reason: new RangeError("bad") },
    ]);
    const away = gathering.run("c");
    calls[2]?.answer.reject(new DatabaseUnavailable("away"));
    await assert.rejects(away, DatabaseUnavailable);
  });
});
