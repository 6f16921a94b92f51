// Two connections that write one file in turn: here, and in a thread.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { Unavailable } from "../errors.ts";
import { Connection, openWriter } from "./connection.ts";
import { packBatch, packOutcomes, unpackBatch, unpackOutcomes } from "./packed-batch.ts";
import { type PlainOutcome, type PlainWrite, Transactions } from "./transactions.ts";
import { Writer } from "./writer.ts";
import { WriterThread } from "./writer-thread.ts";

const now = "2026-01-01 00:00:00.000";

async function file(): Promise<{ readonly path: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "keelson-writer-"));
  return {
    path: join(home, "store.db"),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true }),
  };
}

function connect(path: string): Connection {
  return new Connection(openWriter(path), () => undefined);
}

let made = 0;

function create(): PlainWrite {
  made += 1;
  const name = `n${made}`;
  const text = JSON.stringify({ metadata: { name, uid: name } });
  const columns = { uid: name, apiVersion: "v1", generation: 1, labels: null, deletedAt: null };
  return { type: "create", key: { kind: "ConfigMap", namespace: "default", name }, text, columns };
}

function creates(count: number): PlainWrite[] {
  return Array.from({ length: count }, create);
}

suite("SQLite writer", () => {
  test("few writes are committed here and many in the thread, in one order", async () => {
    await using home = await file();
    await using writer = new Writer(new Transactions(connect(home.path)), home.path);
    const revisions: number[] = [];
    const commit = async (count: number): Promise<boolean> => {
      const committing = writer.commit(creates(count), now);
      const isInThread = !writer.isResting;
      const { head, outcomes } = await committing;
      for (const outcome of outcomes) {
        assert.ok(outcome.type === "written");
        revisions.push(outcome.revision);
      }
      assert.equal(head, revisions.at(-1));
      assert.equal(writer.bounds.head, head);
      return isInThread;
    };
    let rounds = 0;
    while (!(await commit(20))) {
      rounds += 1;
      await setImmediate(); // It starts.
    }
    assert.ok(rounds > 0, "nobody waits for the thread to start");
    assert.equal(await commit(1), false);
    assert.equal(await commit(20), true);
    assert.equal(await commit(2), false);

    // What comes while the thread is busy goes there, too, behind what it does.
    const slow = writer.commit(creates(50), now);
    const cut = writer.cut(10, { entries: 1000, bytes: 1_000_000 });
    const lone = writer.commit(creates(1), now);
    assert.equal(writer.isResting, false);
    const { head } = await slow;
    assert.deepEqual(await cut, { head: head + 1, floor: 10, done: true });
    assert.equal((await lone).head, head + 2);
    assert.deepEqual(writer.bounds, { head: head + 2, floor: 10 });
    assert.equal(await commit(1), false);

    assert.deepEqual(
      revisions.slice(0, -1),
      Array.from({ length: revisions.length - 1 }, (_, index) => index + 2),
    );
  });

  test("an error of the database in the thread is the same error here, and nothing is written", async () => {
    await using home = await file();
    using connection = disposable(connect(home.path));
    const thread = new WriterThread({ path: home.path, learn: () => undefined });
    await using _ = thread;
    await ready(thread);
    const bounds = connection.it.bounds();
    const good = create();
    const never = null as unknown as string; // No row is without a time.
    const isOfSqlite = (error: unknown): boolean =>
      (error as { readonly errcode?: number }).errcode === constraintFailed;
    await assert.rejects(thread.commit([good], never, bounds), isOfSqlite);
    assert.deepEqual(connection.it.bounds(), bounds);
    const { outcomes } = await thread.commit([good], now, bounds);
    assert.deepEqual(outcomes, [{ type: "written", revision: bounds.head + 1 }]);
  });

  test("a thread that ends takes what it was asked for with it, and can be started again", async () => {
    const program = new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from "node:worker_threads";
        parentPort.on("message", (request) => process.exit(request === "close" ? 0 : 3));
        parentPort.postMessage("ready");`)}`,
    );
    const thread = new WriterThread({ path: "", learn: () => undefined, program });
    await using _ = thread;
    for (let round = 0; round < 2; round += 1) {
      await ready(thread);
      const lost = thread.commit(creates(1), now, { head: 1, floor: 1 });
      assert.equal(thread.isBusy, true);
      await assert.rejects(lost, Unavailable);
      assert.equal(thread.isBusy, false);
      assert.equal(thread.isReady, false);
    }
  });

  test("one that cannot start is not tried again", async () => {
    const program = new URL("data:text/javascript,throw new Error('planted')");
    const thread = new WriterThread({ path: "", learn: () => undefined, program });
    thread.start();
    while (thread.isStarting) await setImmediate();
    thread.start();
    assert.equal(thread.isStarting, false);
    assert.equal(thread.isReady, false);
    await thread[Symbol.asyncDispose]();
  });

  test("what is packed is unpacked as it was", () => {
    fc.assert(
      fc.property(fc.array(anyWrite), (batch) => {
        assert.deepEqual(unpackBatch(packBatch(batch)), structuredClone(batch));
      }),
    );
    fc.assert(
      fc.property(fc.array(anyOutcome), (outcomes) => {
        assert.deepEqual(unpackOutcomes(packOutcomes(outcomes)), structuredClone(outcomes));
      }),
    );
  });
});

/** SQLITE_CONSTRAINT_NOTNULL. */
const constraintFailed = 1299;

async function ready(thread: WriterThread): Promise<void> {
  thread.start();
  while (!thread.isReady) await setImmediate();
}

function disposable(it: Connection): { readonly it: Connection } & Disposable {
  return { it, [Symbol.dispose]: () => it.close() };
}

const anyRevision = fc.integer({ min: 1 });
const key = fc.record({ kind: fc.string(), namespace: fc.string(), name: fc.string() });
const columns = fc.record({
  uid: fc.string(),
  apiVersion: fc.string(),
  generation: fc.integer(),
  labels: fc.option(fc.string()),
  deletedAt: fc.option(fc.string()),
});
const anyWrite: fc.Arbitrary<PlainWrite> = fc.oneof(
  fc.record({ type: fc.constant("create" as const), key, text: fc.string(), columns }),
  fc.record({
    type: fc.constant("update" as const),
    key,
    text: fc.string(),
    columns,
    expect: fc.record({ revision: anyRevision, uid: fc.string() }, { requiredKeys: ["revision"] }),
    isKnownChange: fc.boolean(),
  }),
  fc.record({
    type: fc.constant("delete" as const),
    key,
    expect: fc.record({ revision: anyRevision, uid: fc.string() }, { requiredKeys: [] }),
    final: fc.option(fc.string(), { nil: undefined }),
  }),
);
const anyOutcome: fc.Arbitrary<PlainOutcome> = fc.oneof(
  fc.record(
    {
      type: fc.constant("written" as const),
      revision: anyRevision,
      previous: fc.record(
        { revision: anyRevision, uid: fc.string(), text: fc.string() },
        { requiredKeys: ["revision", "uid"] },
      ),
    },
    { requiredKeys: ["type", "revision"] },
  ),
  fc.record({ type: fc.constant("unchanged" as const), revision: anyRevision }),
  fc.constant({ type: "exists" as const }),
  fc.constant({ type: "missing" as const }),
  fc.record({
    type: fc.constant("conflict" as const),
    actual: fc.record({ revision: anyRevision, uid: fc.string() }),
  }),
);
