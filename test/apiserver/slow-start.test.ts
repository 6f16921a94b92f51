// The first start of a real process on a PostgreSQL that reads, and for a while takes no write.

import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { migratePostgres } from "@keelson/store";
import postgres, { type Sql } from "postgres";

import { until } from "../tools/until.ts";
import { startOurs } from "./ours.ts";

suite("a first start on a PostgreSQL that takes no write", () => {
  test("asks again, and goes on when it does; what was asked in vain is not done late", async (t) => {
    await using database = await (await sharedThrowawayPostgres("embedded")).createDatabase();
    await migratePostgres({ url: database.url, schema: "ark" });
    const sql = postgres(database.url, { max: 2, onnotice: () => undefined });
    await using undo = new AsyncDisposableStack();
    undo.defer(() => sql.end());
    const hold = undo.use(holdLog(sql));
    await hold.held;
    const starting = startOurs({ driver: "postgresql", databaseUrl: database.url }, t.signal);
    const seen = new Set<string>();
    const hasAskedAgain = async (): Promise<boolean> => {
      const waiting = await writesThatWait(sql);
      assert.ok(waiting.length <= 1, "one that was given up waits beside the next");
      for (const since of waiting) seen.add(since);
      return seen.size > 1;
    };
    await Promise.race([until(hasAskedAgain, t.signal), starting]);
    assert.ok(seen.size > 1, "it started without a write");
    hold.release();
    await using server = await starting;
    const path = "/api/v1/namespaces/default/services/kubernetes";
    assert.equal((await server.client.send({ path }, t.signal)).status, 200);
    const twice = await sql`
      SELECT kind, namespace, name FROM ark.changes WHERE type = 'ADDED' GROUP BY 1, 2, 3 HAVING count(*) > 1`;
    assert.deepEqual([...twice], []);
  });
});

/** Since when each connection of a store waits that waits for somebody's lock. */
async function writesThatWait(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ since: string }[]>`
    SELECT query_start::text AS since FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'keelson-store' AND wait_event_type = 'Lock'`;
  return rows.map(({ since }) => since);
}

/** Lets nobody write to the log until it is released. */
function holdLog(sql: Sql): AsyncDisposable & { readonly held: Promise<void>; release(): void } {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = sql.begin(async (sql) => {
    await sql`LOCK TABLE ark.changes IN SHARE MODE`;
    held.resolve();
    await released.promise;
  });
  holding.catch(held.reject);
  return {
    held: held.promise,
    release: () => released.resolve(),
    [Symbol.asyncDispose]: async () => {
      released.resolve();
      await holding;
    },
  };
}
