import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { suite, test } from "node:test";

import type { Outcome, Write } from "./backend.ts";
import { Body } from "./body.ts";
import { CommitQueue } from "./commit-queue.ts";
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
function slowQueue() {
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
    backend: { commit },
    limits: defaultLimits,
    onCommitted: () => undefined,
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
