import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
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

const databaseMs = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms";
