// When the feed looks at the log, and when it need not.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { systemClock } from "@keelson/base";
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
});
