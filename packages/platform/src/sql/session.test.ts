import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@keelson/base";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { createAppDatabase } from "../testing/index.ts";
import { parseConnectionUrl } from "./connection-parts.ts";
import { Session } from "./session.ts";

test("a statement that nobody waits for any more ends in PostgreSQL, too", async (t) => {
  const server = await sharedThrowawayPostgres("embedded");
  await using database = await createAppDatabase(server, { rights: "ordinary" });
  const parts = parseConnectionUrl(database.adminUrl);
  // PostgreSQL itself would wait for so long, and does not look whether anybody is still there.
  const session = await Session.open({ parts, timeoutMs: 600_000, clock: systemClock });
  const isAt = async (count: number): Promise<void> => {
    const active = `SELECT FROM pg_stat_activity
      WHERE state = 'active' AND usename = '${database.adminName}' AND query LIKE '%pg_sleep%'`;
    while ((await database.query(active)).length !== count) t.signal.throwIfAborted();
  };
  const stop = new AbortController();
  const sleeping = session.run({ name: "sleep", text: "SELECT pg_sleep(500)" }, stop.signal);
  sleeping.catch(() => undefined);
  await isAt(1);
  stop.abort(new Error("enough"));
  await assert.rejects(sleeping, /enough/);
  await isAt(0);
  assert.equal(session.isDead, true);
});
