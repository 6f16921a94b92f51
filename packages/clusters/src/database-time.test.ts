import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock, RecordingLog } from "@keelson/base/testing";
import type { Database } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { DatabaseTime } from "./database-time.ts";
import { createClustersDatabase } from "./testing/clusters-database.ts";

test("the time is the database's, and goes on with ours, wherever a wall clock is set to", async (t) => {
  await using it = await createClustersDatabase(await sharedThrowawayPostgres("embedded"));
  const clock = new ManualClock();
  const time = new DatabaseTime({ database: it.database, clock });
  assert.equal(time.now(), clock.now(), "until it is measured it is ours");

  const [before] = await it.query<{ ms: number }>(databaseMs);
  await time.measure(t.signal);
  const [after] = await it.query<{ ms: number }>(databaseMs);
  const measuredMs = time.now();
  assert.ok(before !== undefined && after !== undefined);
  assert.ok(before.ms <= measuredMs && measuredMs <= after.ms, `${measuredMs} is not its time`);

  for (const stepMs of [3_600_000, -7_200_000]) {
    clock.shiftWall(stepMs);
    assert.equal(time.now(), measuredMs, `a step of ${stepMs} ms`);
  }
  await clock.advance(500);
  assert.equal(time.now(), measuredMs + 500);
});

test("a machine that slept asks for the time within seconds, and goes on asking until it is told", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  let asked = 0;
  let isAway = false;
  const sleptMs = 8 * 3_600_000;
  const database = {
    run: () => {
      asked += 1;
      return isAway
        ? Promise.reject(new Error("away"))
        : Promise.resolve([{ now_ms: clock.now() }]);
    },
  } as unknown as Database;
  const time = new DatabaseTime({ database, clock });
  const keeping = time.keep({ log: new RecordingLog() }, stop.signal);
  await clock.advance(59_000);
  assert.equal(asked, 0);
  await clock.advance(6_000);
  assert.equal(asked, 1, "once a minute");

  // Only the wall clock goes on meanwhile.
  clock.shiftWall(sleptMs);
  isAway = true;
  assert.equal(time.now(), clock.now() - sleptMs);
  await clock.advance(10_000);
  assert.equal(asked, 3);
  isAway = false;
  await clock.advance(5_000);
  assert.equal(time.now(), clock.now());
  await clock.advance(30_000);
  assert.equal(asked, 4, "and rests then");
  stop.abort();
  await keeping;
});

const databaseMs = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms";
