// When the feed looks at the log, and when it need not.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import type { Backend } from "./backend.ts";
import type { Revision } from "./revision.ts";
import { SqliteBackend } from "./sqlite/backend.ts";
import { Store } from "./store.ts";
import { key, object, signal } from "./testing/bed.ts";

suite("log feed", () => {
  test("a wake-up for what this process has published is not looked for; any other is", async () => {
    let announce: (committed: Revision | undefined) => void = () => undefined;
    let looks = 0;
    const backend = new Proxy<Backend>(
      new SqliteBackend({ path: ":memory:", clock: systemClock }),
      {
        get(target, property: keyof Backend) {
          if (property === "head") looks += 1;
          if (property === "onWake") {
            return (listener: typeof announce) => {
              announce = listener;
              return { [Symbol.dispose]: () => undefined };
            };
          }
          const value = target[property];
          return typeof value === "function" ? value.bind(target) : value;
        },
      },
    );
    await using store = await Store.open(
      { backend, limits: { compactionEveryMs: undefined } },
      signal,
    );
    const looksAfter = async (committed: Revision | undefined): Promise<number> => {
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      const before = looks;
      announce(committed);
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      return looks - before;
    };
    const { revision } = await store.create(key("a"), object("a"), signal);
    assert.equal(await looksAfter(revision), 0);
    assert.ok((await looksAfter(revision + 1)) > 0);
    assert.ok((await looksAfter(undefined)) > 0);
  });

  test("while a commit of ours is under way its answer comes first, and anybody else's change 5 ms later", async () => {
    const clock = new ManualClock();
    let announce: (committed: Revision | undefined) => void = () => undefined;
    let looks = 0;
    let gate = Promise.withResolvers<void>();
    const backend = new Proxy<Backend>(new SqliteBackend({ path: ":memory:", clock }), {
      get(target, property: keyof Backend) {
        if (property === "head") looks += 1;
        if (property === "onWake") {
          return (listener: typeof announce) => {
            announce = listener;
            return { [Symbol.dispose]: () => undefined };
          };
        }
        if (property === "commit") {
          return async (batch: Parameters<Backend["commit"]>[0]) => {
            const committed = await target.commit(batch);
            await gate.promise; // Committed and announced, but not yet answered.
            return committed;
          };
        }
        const value = target[property];
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    await using store = await Store.open(
      { backend, clock, limits: { compactionEveryMs: undefined } },
      signal,
    );
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    };
    await turns();

    const own = store.create(key("a"), object("a"), signal);
    await turns();
    looks = 0;
    announce(2);
    await turns();
    assert.equal(looks, 0, "the answer is on its way");
    gate.resolve();
    assert.equal((await own).revision, 2);
    await clock.advance(5);
    await turns();
    assert.equal(looks, 0, "it was published by then");

    gate = Promise.withResolvers<void>();
    const stuck = store.create(key("b"), object("b"), signal);
    await turns();
    announce(3);
    await clock.advance(5);
    await turns();
    assert.ok(looks > 0, "a commit that takes longer holds up nobody");
    gate.resolve();
    await stuck;
  });
});
