// Killed at random moments, again and again, under load: it always comes back, and nothing committed is lost.
// KEELSON_TEST_ROUNDS and KEELSON_TEST_SEED choose how often and when; `npm run soak` does 50 rounds.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom, TaskScope } from "@keelson/base";
import postgres from "postgres";
import { until } from "../tools/until.ts";
import { KeelsonProcess, leftBehind, nothingRunsIn, temporaryFolder } from "./keelson-process.ts";

const rounds = Number(process.env["KEELSON_TEST_ROUNDS"] ?? 3);
const seed = process.env["KEELSON_TEST_SEED"] ?? "kill-rounds";

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
      // Every third one but the last is killed while it starts, which has moments of its own.
      if (random.integer(3) === 0 && round < rounds) {
        await wait(random.integer(2_500), undefined, { signal: t.signal });
        await keelson.stop("SIGKILL");
        continue;
      }
      const { rest = "", database: url = "" } = await keelson.ready();
      const sql = postgres(url, { max: 4, onnotice: () => undefined });
      await sql`CREATE TABLE IF NOT EXISTS kept (id int PRIMARY KEY)`;
      await using load = new TaskScope(t.signal);
      for (let writer = 0; writer < 4; writer++) {
        load.spawn(`writer ${writer}`, async (signal) => {
          while (!signal.aborted) {
            const id = next++;
            try {
              await sql`INSERT INTO kept VALUES (${id})`;
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
          // A part that a busy machine did not let speak for seconds counts as ill until it does.
          assert.ok([200, 503].includes(answer.status), String(answer.status));
          const text = await answer.text().catch(() => undefined);
          if (text === undefined) return; // Killed in the middle of an answer.
          if (answer.status === 200) answered++;
        }
      });
      const before = { rows: acknowledged.size, answered };
      await until(
        () => acknowledged.size > before.rows && answered > before.answered,
        load.signal,
        "a row and a 200",
      );
      await wait(random.integer(1_000), undefined, { signal: t.signal });
      await keelson.stop("SIGKILL");
      await load.join();
      await sql.end({ timeout: 0 });
    }

    await using last = new KeelsonProcess(folder.path);
    const { database: url = "" } = await last.ready();
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    await sql`CREATE TABLE IF NOT EXISTS kept (id int PRIMARY KEY)`;
    const rows = await sql<{ id: number }[]>`SELECT id FROM kept`;
    await sql.end();
    const kept = new Set(rows.map(({ id }) => id));
    assert.ok(acknowledged.size > 0, "nothing was acknowledged");
    assert.deepEqual([...acknowledged.difference(kept)], [], "nothing acknowledged is lost");
    assert.ok(kept.size <= next);
    const { code, output } = await last.stop("SIGTERM");
    assert.equal(code, 0, output);
    assert.deepEqual(leftBehind(folder.path), []);
    await nothingRunsIn(folder.path);
    t.diagnostic(`${acknowledged.size} rows acknowledged, ${answered} requests answered`);
  });
});
