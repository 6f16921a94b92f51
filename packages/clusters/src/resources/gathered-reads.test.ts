import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { GatheredReads } from "./gathered-reads.ts";

const never = new AbortController().signal;

/** Reads that are answered when the test says so. */
class Table {
  readonly asked: (readonly string[])[] = [];
  readonly #answers: PromiseWithResolvers<readonly { readonly id: string }[]>[] = [];
  readonly reads = new GatheredReads({
    read: (ids) => {
      this.asked.push(ids);
      const answer = Promise.withResolvers<readonly { readonly id: string }[]>();
      this.#answers.push(answer);
      return answer.promise;
    },
  });

  answer(index: number, ids: readonly string[]): void {
    this.#answers[index]?.resolve(ids.map((id) => ({ id })));
  }

  fail(index: number): void {
    this.#answers[index]?.reject(new Error("away"));
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

suite("gathered reads", () => {
  test("those of one turn are one statement, each asked for once, and everybody has their own answer", async () => {
    const table = new Table();
    const found = Promise.all(["b", "a", "b", "c"].map((id) => table.reads.find(id, never)));
    assert.deepEqual(table.asked, []);
    await turn();
    assert.deepEqual(table.asked, [["b", "a", "c"]]);
    table.answer(0, ["a", "b"]);
    assert.deepEqual(await found, [{ id: "b" }, { id: "a" }, { id: "b" }, undefined]);
  });

  test("who asks after a statement was sent waits for no other, and is not given what it has read", async () => {
    const table = new Table();
    const first = table.reads.find("a", never);
    await turn();
    const second = table.reads.find("a", never);
    await turn();
    assert.deepEqual(table.asked, [["a"], ["a"]]);
    table.answer(1, ["a"]);
    assert.deepEqual(await second, { id: "a" });
    table.answer(0, []);
    assert.equal(await first, undefined);
  });

  test("a failure is everybody's, and the next statement is another", async () => {
    const table = new Table();
    const found = ["a", "b"].map((id) => table.reads.find(id, never));
    await turn();
    table.fail(0);
    for (const one of found) await assert.rejects(one, { message: "away" });
    const again = table.reads.find("a", never);
    await turn();
    table.answer(1, ["a"]);
    assert.deepEqual(await again, { id: "a" });
  });

  test("who has gone is told so, and costs the others nothing", async () => {
    const table = new Table();
    const gone = new AbortController();
    const left = table.reads.find("a", gone.signal);
    const stays = table.reads.find("a", never);
    await turn();
    gone.abort(new Error("gone"));
    await assert.rejects(left, { message: "gone" });
    table.answer(0, ["a"]);
    assert.deepEqual(await stays, { id: "a" });
    await assert.rejects(table.reads.find("a", gone.signal), { message: "gone" });
  });

  test("more than a statement takes are several", async () => {
    const table = new Table();
    const ids = Array.from({ length: 300 }, (_, n) => `${n}`);
    const found = Promise.all(ids.map((id) => table.reads.find(id, never)));
    await turn();
    assert.deepEqual(
      table.asked.map((all) => all.length),
      [256, 44],
    );
    for (const [index, all] of table.asked.entries()) table.answer(index, all);
    assert.equal((await found).filter((row) => row !== undefined).length, 300);
  });
});
