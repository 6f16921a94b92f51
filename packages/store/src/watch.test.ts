// How a watcher that keeps up is served: straight from the hub, whatever the size of the batch.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Revision } from "./revision.ts";
import type { Store } from "./store.ts";
import { everywhere, key, object, signal } from "./testing/bed.ts";
import { sqliteMemory } from "./testing/fixtures.ts";

async function openStore(): Promise<Store> {
  const bed = await sqliteMemory.prepare();
  return bed.open({ limits: { watchBufferMax: 10 } });
}

async function writeTogether(store: Store, names: readonly string[]): Promise<Revision[]> {
  const rows = await Promise.all(names.map((n) => store.create(key(n), object(n), signal)));
  return rows.map(({ revision }) => revision);
}

const names = Array.from({ length: 25 }, (_, n) => `q${n}`);

suite("watcher", () => {
  test("one that waits takes a batch larger than its buffer without falling behind", async () => {
    await using store = await openStore();
    using watch = await store.watch(everywhere, { from: await store.head(signal) }, signal);
    const waiting = watch.next();
    await settled();
    assert.equal(watch.isBehind, false);

    const revisions = await writeTogether(store, names);
    const items = await waiting;
    assert.deepEqual(
      items?.map(({ revision }) => revision),
      revisions,
    );
    assert.equal(watch.isBehind, false);
    assert.equal(watch.position, revisions.at(-1));
  });

  test("one that does not wait falls behind, reads the log, and gets the same", async () => {
    await using store = await openStore();
    using watch = await store.watch(everywhere, { from: await store.head(signal) }, signal);
    const first = watch.next();
    await settled();
    const revisions = await writeTogether(store, ["first"]);
    const seen = [...((await first) ?? [])].map(({ revision }) => revision);

    revisions.push(...(await writeTogether(store, names)));
    assert.equal(watch.isBehind, true);
    while (seen.length < revisions.length) {
      for (const { revision } of (await watch.next()) ?? []) seen.push(revision);
    }
    assert.deepEqual(seen, revisions);
  });

  test("those that wait together share one array", async () => {
    await using store = await openStore();
    const from = await store.head(signal);
    using one = await store.watch(everywhere, { from }, signal);
    using other = await store.watch(everywhere, { from }, signal);
    const waiting = [one.next(), other.next()];
    await settled();
    await writeTogether(store, names);
    const [left, right] = await Promise.all(waiting);
    assert.ok(left !== undefined && left === right);
  });

  test("one that begins at a revision still to come waits for what is after it", async () => {
    await using store = await openStore();
    const head = await store.head(signal);
    using watch = await store.watch(everywhere, { from: head + 20 }, signal);
    const waiting = watch.next();
    await settled();
    const revisions = await writeTogether(store, names);
    assert.deepEqual(
      (await waiting)?.map(({ revision }) => revision),
      revisions.slice(20),
    );
  });

  test("one that waits ends with the store, and with its own disposal", async () => {
    const store = await openStore();
    const from = await store.head(signal);
    const watches = [
      await store.watch(everywhere, { from }, signal),
      await store.watch(everywhere, { from }, signal),
    ];
    const [left, right] = watches.map((watch) => watch.next());
    await settled();
    watches[0]?.[Symbol.dispose]();
    assert.equal(await left, undefined);
    await store[Symbol.asyncDispose]();
    assert.equal(await right, undefined);
  });
});

/** Every promise that can go on has gone on: whoever wants to wait waits. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
