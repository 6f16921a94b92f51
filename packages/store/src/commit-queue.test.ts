import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { suite, test } from "node:test";

import { seededRandom } from "@keelson/base";

import type { Outcome, Write } from "./backend.ts";
import { Body } from "./body.ts";
import { CommitQueue } from "./commit-queue.ts";
import { Unavailable } from "./errors.ts";
import { defaultLimits } from "./limits.ts";

const columns = { uid: "u", apiVersion: "v1", generation: 1, labels: null, deletedAt: null };

function create(name: string): Write {
  return {
    type: "create",
    key: { kind: "Thing", namespace: "", name },
    body: Body.of({ name }),
    columns,
  };
}

/** A queue before a database whose commits end when they are told to. */
function slowQueue({ commitsAside = false, onCommitted = (): void => undefined } = {}) {
  const batches: { readonly names: readonly string[]; readonly finish: () => void }[] = [];
  const commit = async (
    writes: readonly Write[],
  ): Promise<{ head: number; outcomes: Outcome[] }> => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    batches.push({ names: writes.map(({ key }) => key.name), finish });
    await promise;
    return { head: 1, outcomes: writes.map(() => ({ type: "written", revision: 1 })) };
  };
  const queue = new CommitQueue({
    backend: { commit, commitsAside: () => commitsAside },
    limits: defaultLimits,
    onCommitted,
    onUncertain: () => undefined,
  });
  return { queue, batches };
}

suite("a queue of writes", () => {
  const { signal } = new AbortController();

  test("commits together what came while a commit ran, each object once", async () => {
    const { queue, batches } = slowQueue();
    const all = [queue.submit(create("a"), signal)];
    await turn();
    for (const name of ["b", "c", "b"]) all.push(queue.submit(create(name), signal));
    batches[0]?.finish();
    await turn();
    await turn();
    batches[1]?.finish();
    await turn();
    await turn();
    batches[2]?.finish();
    await Promise.all(all);
    assert.deepEqual(
      batches.map(({ names }) => names),
      [["a"], ["b", "c"], ["b"]],
    );
  });

  test("lets no large second write that waits take the place of others", async () => {
    const { queue, batches } = slowQueue();
    const large = {
      ...create("a"),
      body: Body.of({ name: "x".repeat(defaultLimits.batchTextMax) }),
    };
    const all = [create("a"), large, create("b")].map((write) => queue.submit(write, signal));
    await turn();
    assert.deepEqual(batches[0]?.names, ["a", "b"]);
    batches[0]?.finish();
    await turn();
    await turn();
    assert.deepEqual(batches[1]?.names, ["a"]);
    batches[1]?.finish();
    await Promise.all(all);
  });

  test("lets go at once of a write that gives up while another's commit runs", async () => {
    const { queue, batches } = slowQueue();
    const first = queue.submit(create("a"), signal);
    await turn();
    const late = new AbortController();
    const leftOver = new AbortController();
    const reason = new Error("enough");
    const rejections = [
      assert.rejects(queue.submit(create("b"), late.signal), reason),
      assert.rejects(queue.submit(create("a"), leftOver.signal), reason),
    ];
    late.abort(reason);
    leftOver.abort(reason);
    await Promise.all(rejections);
    batches[0]?.finish();
    await first;
    assert.equal(batches.length, 1);
  });

  test("lets go of the second write to an object while the first is being committed", async () => {
    const { queue, batches } = slowQueue();
    const first = queue.submit(create("a"), signal);
    const second = new AbortController();
    const reason = new Error("enough");
    const rejection = assert.rejects(queue.submit(create("a"), second.signal), reason);
    await turn(); // The batch of the first has begun, and the second was left over.
    assert.deepEqual(batches[0]?.names, ["a"]);
    second.abort(reason);
    await rejection;
    batches[0]?.finish();
    await first;
  });

  test("commits once what is durable, and says so, also where telling of it fails", async () => {
    const bug = new Error("a bug of whoever is told");
    const onCommitted = (): never => {
      throw bug;
    };
    const { queue, batches } = slowQueue({ onCommitted });
    const all = ["a", "b"].map((name) => queue.submit(create(name), signal));
    await turn();
    const closed = assert.rejects(queue.close(), bug);
    batches[0]?.finish();
    const written = { type: "written", revision: 1 };
    assert.deepEqual(await Promise.all(all), [written, written]);
    await closed;
    assert.equal(batches.length, 1);
  });

  suite("before a database that commits aside", () => {
    const names = (from: number, count: number): string[] =>
      Array.from({ length: count }, (_, index) => `n${from + index}`);

    test("begins many writes at once, and as many again behind them", async () => {
      const { queue, batches } = slowQueue({ commitsAside: true });
      const submit = (some: readonly string[]): Promise<unknown>[] =>
        some.map((name) => queue.submit(create(name), signal));
      const all = submit(names(0, 7));
      assert.equal(batches.length, 0, "few wait for the turn to end");
      all.push(...submit(names(7, 1)));
      assert.equal(batches.length, 1, "many do not");
      all.push(...submit(names(8, 7)));
      await turn();
      assert.equal(batches.length, 1, "behind eight there are eight more");
      all.push(...submit(names(15, 1)), ...submit(names(16, 40)));
      await turn();
      assert.deepEqual(
        batches.map((batch) => batch.names),
        [names(0, 8), names(8, 8)],
        "two are enough",
      );
      batches[0]?.finish();
      await turn();
      assert.deepEqual(batches[2]?.names, names(16, 40));
      for (const { finish } of batches) finish();
      await Promise.all(all);
    });

    test("has a second write to an object wait for the first", async () => {
      const { queue, batches } = slowQueue({ commitsAside: true });
      const first = names(0, 8).map((name) => queue.submit(create(name), signal));
      const second = ["n3", ...names(8, 7)].map((name) => queue.submit(create(name), signal));
      await turn();
      assert.deepEqual(
        batches.map((batch) => batch.names),
        [names(0, 8), names(8, 7)],
      );
      batches[1]?.finish();
      await turn();
      assert.equal(batches.length, 2, "the first is still under way");
      batches[0]?.finish();
      await turn();
      await turn();
      assert.deepEqual(batches[2]?.names, ["n3"]);
      batches[2]?.finish();
      await Promise.all([...first, ...second]);
    });

    test("begins with those that came after second writes, and need not wait with them", async () => {
      const { queue, batches } = slowQueue({ commitsAside: true });
      const submit = (some: readonly string[]): Promise<unknown>[] =>
        some.map((name) => queue.submit(create(name), signal));
      const all = [...submit(names(0, 8)), ...submit(names(0, 8)), ...submit(names(8, 1))];
      assert.deepEqual(
        batches.map((batch) => batch.names),
        [names(0, 8), names(8, 1)],
      );
      for (const { finish } of batches) finish();
      await turn();
      await turn();
      assert.deepEqual(batches[2]?.names, names(0, 8));
      batches[2]?.finish();
      await Promise.all(all);
    });

    test("closes when the last batch has ended, and refuses what waits", async () => {
      const { queue, batches } = slowQueue({ commitsAside: true });
      const all = names(0, 16).map((name) => queue.submit(create(name), signal));
      const late = assert.rejects(queue.submit(create("late"), signal), Unavailable);
      assert.equal(batches.length, 2);
      let isClosed = false;
      const closing = queue.close().then(() => (isClosed = true));
      await late;
      batches[0]?.finish();
      await turn();
      assert.equal(isClosed, false);
      batches[1]?.finish();
      await closing;
      await Promise.all(all);
    });
  });

  test("answers every write, and those to one object in the order in which they came", async () => {
    for (let seed = 0; seed < 60; seed += 1) {
      const random = seededRandom(`queue/${seed}`);
      const running: (() => void)[] = [];
      const committed: Write[] = [];
      const objectsUnderWay = new Set<string>();
      const commit = async (writes: readonly Write[]) => {
        for (const { key } of writes) {
          assert.ok(!objectsUnderWay.has(key.name), "an object is in two batches at once");
          objectsUnderWay.add(key.name);
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        running.push(resolve);
        await promise;
        for (const { key } of writes) objectsUnderWay.delete(key.name);
        if (random.integer(10) === 0) throw new Unavailable("not now");
        committed.push(...writes);
        const outcomes = writes.map((): Outcome => ({ type: "written", revision: 1 }));
        return { head: 1, outcomes };
      };
      const queue = new CommitQueue({
        backend: { commit, commitsAside: () => random.integer(3) > 0 },
        limits: { ...defaultLimits, batchWritesMax: 20 },
        onCommitted: () => undefined,
        onUncertain: () => undefined,
      });
      const sent: Write[] = [];
      const answers: Promise<unknown>[] = [];
      const finishOne = (): void => running.shift()?.();
      for (let step = 0; step < 60; step += 1) {
        for (let count = random.integer(15); count > 0; count -= 1) {
          const write = create(`n${random.integer(30)}`);
          const leaving = new AbortController();
          sent.push(write);
          answers.push(queue.submit(write, leaving.signal).catch(() => undefined));
          if (random.integer(8) === 0) leaving.abort(new Error("enough"));
        }
        if (random.integer(2) === 0) finishOne();
        if (random.integer(2) === 0) await turn();
      }
      const all = Promise.all(answers).then(() => true);
      while (!(await Promise.race([all, turn(false)]))) finishOne();
      assert.equal(queue.isRunning, false);
      const place = new Map(sent.map((write, index) => [write, index]));
      for (const name of new Set(committed.map(({ key }) => key.name))) {
        const places = committed
          .filter(({ key }) => key.name === name)
          .map((write) => place.get(write) ?? -1);
        assert.deepEqual(
          places,
          places.toSorted((a, b) => a - b),
        );
      }
    }
  });

  test("does not begin a write that has given up in the turn in which it came", async () => {
    const { queue, batches } = slowQueue();
    const controller = new AbortController();
    const reason = new Error("enough");
    const rejection = assert.rejects(queue.submit(create("a"), controller.signal), reason);
    controller.abort(reason);
    await rejection;
    assert.equal(batches.length, 0);
    assert.equal(queue.isRunning, false);
  });
});
