// Statuses while others write: what is cached is true, and nobody waits for it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import { statement } from "@keelson/database";
import { alice, available, saidOf, startClustersRest } from "./clusters-rest.ts";
import { lengthMs, never } from "./events-bed.ts";

suite("statuses under way", () => {
  test("reporters and readers at once: afterwards the cache is what a calculation gives, always", async () => {
    await using it = await startClustersRest();
    const paths = [
      `/clusters/${await it.cluster(alice)}`,
      `/clusters/${await it.cluster(alice, "two")}`,
    ];
    const states = ["True", "False", "Unknown"] as const;
    const endMs = systemClock.monotonic() + lengthMs;
    for (let round = 0; round < 3 || systemClock.monotonic() < endMs; round++) {
      await Promise.all([
        ...Array.from({ length: 6 }, async (_, reporter) => {
          for (let i = 0; i < 6; i++) {
            const path = paths[(reporter + i) % 2] ?? "";
            const status = states[(i + reporter + round) % 3] ?? "True";
            const { code } = await it.report(path, `c${reporter}`, {
              conditions: [available(status)],
            });
            assert.equal(code, 200);
          }
        }),
        ...Array.from({ length: 4 }, async (_, reader) => {
          for (let i = 0; i < 8; i++) {
            const path = i % 3 === 0 ? "/clusters?status=Ready" : (paths[reader % 2] ?? "");
            assert.equal((await it.ask(alice, "GET", path)).code, 200);
          }
        }),
        it.settle(),
      ]);
      await Promise.all(paths.map((path) => it.ask(alice, "GET", path)));
      const cached = await it.tables.query(
        `SELECT id, status - 'lastUpdateTime' AS status, status_dirty FROM clusters ORDER BY id`,
      );
      assert.deepEqual(
        cached.map((row) => row["status_dirty"]),
        [false, false],
      );
      await it.tables.query(`UPDATE clusters SET status_dirty = true`);
      await it.settle();
      assert.deepEqual(
        await it.tables.query(
          `SELECT id, status - 'lastUpdateTime' AS status, status_dirty FROM clusters ORDER BY id`,
        ),
        cached,
      );
    }
  });

  test("a report between the reading and the caching of a status is not lost", async () => {
    const held = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    let isHolding = false;
    await using it = await startClustersRest({
      onStatement: async ({ statement, phase }) => {
        if (!isHolding || statement !== "cacheStatuses" || phase !== "before") return;
        isHolding = false;
        reading.resolve();
        await held.promise;
      },
    });
    const path = `/clusters/${await it.cluster(alice)}`;
    await it.report(path, "a", { conditions: [available("False")] });
    isHolding = true;
    const slow = it.ask(alice, "GET", path);
    await reading.promise;
    await it.report(path, "a");
    held.resolve();
    assert.equal((await slow).body.status.phase, "Ready");
    assert.equal(await saidOf(it, path), "Ready/AllControllersReady");
  });

  test("a cache that cannot be written fails no read and waits for no lock", async () => {
    const blocked = Promise.withResolvers<void>();
    let isBroken = false;
    let cached = 0;
    await using it = await startClustersRest({
      onStatement: ({ statement, phase }) => {
        if (statement !== "cacheStatuses") return;
        if (isBroken) throw new Error("broken");
        if (phase === "after") cached++;
      },
    });
    const path = `/clusters/${await it.cluster(alice)}`;
    await it.report(path, "a");
    isBroken = true;
    assert.equal(await saidOf(it, path), "Ready/AllControllersReady");
    isBroken = false;
    const locked = Promise.withResolvers<void>();
    const holder = it.tables.database.transaction(async (sql) => {
      await sql.run(lockAll, undefined);
      locked.resolve();
      await blocked.promise;
    }, never);
    await locked.promise;
    const before = cached;
    assert.equal(await saidOf(it, path), "Ready/AllControllersReady");
    assert.ok(cached > before, "it was tried, and ended while the row was locked");
    blocked.resolve();
    await holder;
  });
});

const lockAll = statement<undefined>("lockAll", (sql) => sql`SELECT id FROM clusters FOR UPDATE`);
