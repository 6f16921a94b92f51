import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  DatabaseBusy,
  DatabaseTimeout,
  TransactionConflict,
  ValueRefused,
} from "@keelson/database";
import { GatheredWrites } from "./gathered-writes.ts";

const never = new AbortController().signal;

/** Writes that are answered when the test says so. */
class Table {
  readonly written: (readonly string[])[] = [];
  readonly #answers: PromiseWithResolvers<readonly string[]>[] = [];
  readonly writes = new GatheredWrites<string, string>({
    write: (items) => {
      this.written.push(items);
      const answer = Promise.withResolvers<readonly string[]>();
      this.#answers.push(answer);
      return answer.promise;
    },
  });

  async answer(index: number): Promise<void> {
    this.#answers[index]?.resolve((this.written[index] ?? []).map((item) => `${item} done`));
    await turn();
  }

  async fail(index: number, error: Error): Promise<void> {
    this.#answers[index]?.reject(error);
    await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

suite("gathered writes", () => {
  test("two go at once, and who comes meanwhile goes together, each with its own answer", async () => {
    const table = new Table();
    const all = Promise.all(["a", "b", "c", "d"].map((item) => table.writes.run(item, never)));
    await turn();
    assert.deepEqual(table.written, [["a"], ["b"]]);
    await table.answer(1);
    assert.deepEqual(table.written, [["a"], ["b"], ["c", "d"]]);
    await table.answer(2);
    await table.answer(0);
    assert.deepEqual(await all, ["a done", "b done", "c done", "d done"]);
  });

  test("what is wrong with one is not the others': then each goes by itself", async () => {
    for (const error of [
      new ValueRefused("no such character"),
      new TransactionConflict("circle"),
    ]) {
      const table = new Table();
      const all = Promise.allSettled(
        ["a", "b", "good", "bad"].map((item) => table.writes.run(item, never)),
      );
      await turn();
      await table.answer(0);
      assert.deepEqual(table.written, [["a"], ["b"], ["good", "bad"]]);
      await table.fail(2, error);
      await table.answer(3);
      await table.fail(4, error);
      await table.answer(1);
      assert.deepEqual(table.written.slice(3), [["good"], ["bad"]]);
      assert.deepEqual(
        (await all).map((one) => (one.status === "fulfilled" ? one.value : one.reason)),
        ["a done", "b done", "good done", error],
      );
    }
  });

  test("a database that does not answer is everybody's, also of those who wait; nothing is sent twice", async () => {
    const table = new Table();
    const all = Promise.allSettled(
      ["a", "b", "c", "d"].map((item) => table.writes.run(item, never)),
    );
    await turn();
    await table.fail(0, new DatabaseTimeout("slow"));
    assert.deepEqual(table.written, [["a"], ["b"]]);
    await table.answer(1);
    assert.deepEqual(
      (await all).map(({ status }) => status),
      ["rejected", "fulfilled", "rejected", "rejected"],
    );
    const again = table.writes.run("e", never);
    await turn();
    await table.answer(2);
    assert.equal(await again, "e done");
  });

  test("a statement takes so many, so many may wait, and the next one is refused", async () => {
    const table = new Table();
    const items = Array.from({ length: 1_002 }, (_, n) => `${n}`);
    const all = Promise.all(items.map((item) => table.writes.run(item, never)));
    await assert.rejects(table.writes.run("one too many", never), DatabaseBusy);
    await turn();
    for (let index = 0; index < table.written.length; index++) await table.answer(index);
    assert.equal((await all).length, 1_002);
    assert.equal(Math.max(...table.written.map(({ length }) => length)), 100);
  });

  test("who has gone before it is sent is not written", async () => {
    const table = new Table();
    const gone = AbortSignal.abort(new Error("gone"));
    await assert.rejects(table.writes.run("a", gone), { message: "gone" });
    assert.deepEqual(table.written, []);
  });
});
