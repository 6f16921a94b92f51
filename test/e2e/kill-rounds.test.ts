// Killed at random moments, again and again, under load: it always comes back, and nothing committed is lost.
// KEELSON_TEST_ROUNDS and KEELSON_TEST_SEED choose how often and when; `npm run soak` does 50 rounds.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom, TaskScope } from "@keelson/base";
import { openDatabase, statement } from "@keelson/database";
import { KeelsonProcess, leftBehind, nothingRunsIn, temporaryFolder } from "./keelson-process.ts";

const rounds = Number(process.env["KEELSON_TEST_ROUNDS"] ?? 3);
const seed = process.env["KEELSON_TEST_SEED"] ?? "kill-rounds";

const createTable = statement(
  "createKept",
  (sql) => sql`CREATE TABLE IF NOT EXISTS kept (id int PRIMARY KEY)`,
);
const keep = statement(
  "keep",
  (sql, id: number) => sql`INSERT INTO kept VALUES (${id}) ON CONFLICT DO NOTHING`,
);
const allKept = statement<undefined, { id: number }>(
  "allKept",
  (sql) => sql`SELECT id FROM kept ORDER BY id`,
);

suite(`kill -9, ${rounds} rounds, seed ${seed}`, () => {
  test("comes back, keeps what was committed, and leaves nothing after a clean stop", async (t) => {
    const random = seededRandom(seed);
    await using folder = await temporaryFolder();
    const acknowledged = new Set<number>();
    let next = 0;
    let answered = 0;

    for (let round = 1; round <= rounds; round++) {
      // The next one starts at once, also while what the last one left is still ending.
      await using keelson = new KeelsonProcess(folder.path);
      // Every third one is killed while it starts, which has moments of its own.
      if (random.integer(3) === 0) {
        await wait(random.integer(2_500), undefined, { signal: t.signal });
        await keelson.stop("SIGKILL");
        continue;
      }
      const { rest = "", database: url = "" } = await keelson.ready();
      await using database = openDatabase({ url, name: "load", connectionsMax: 4 });
      await database.run(createTable, undefined, t.signal);
      await using load = new TaskScope(t.signal);
      for (let writer = 0; writer < 4; writer++) {
        load.spawn(`writer ${writer}`, async (signal) => {
          while (!signal.aborted) {
            const id = next++;
            try {
              await database.run(keep, id, signal);
              acknowledged.add(id);
            } catch {
              return; // Killed: whether this one was committed nobody knows.
            }
          }
        });
      }
      load.spawn("reader", async (signal) => {
        while (!signal.aborted) {
          const answer = await fetch(`${rest}/readyz`, { signal }).catch(() => undefined);
          if (answer === undefined) return;
          assert.equal(answer.status, 200);
          await answer.text();
          answered++;
        }
      });
      await wait(100 + random.integer(900), undefined, { signal: t.signal });
      await keelson.stop("SIGKILL");
      await load.join();
    }

    await using last = new KeelsonProcess(folder.path);
    const { database: url = "" } = await last.ready();
    await using database = openDatabase({ url, name: "check", connectionsMax: 1 });
    await database.run(createTable, undefined, t.signal);
    const kept = new Set((await database.run(allKept, undefined, t.signal)).map(({ id }) => id));
    assert.deepEqual([...acknowledged.difference(kept)], [], "nothing acknowledged is lost");
    assert.ok(kept.size <= next);
    await database[Symbol.asyncDispose]();
    const { code, output } = await last.stop("SIGTERM");
    assert.equal(code, 0, output);
    assert.deepEqual(leftBehind(folder.path), []);
    await nothingRunsIn(folder.path);
    t.diagnostic(`${acknowledged.size} rows acknowledged, ${answered} requests answered`);
  });
});
