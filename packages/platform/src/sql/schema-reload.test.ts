import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import { eachPostgres } from "@keelson/database/testing";
import postgres from "postgres";

import { createAppDatabase, MemoryLedger } from "../testing/index.ts";

const never = new AbortController().signal;
const password = "0b".repeat(32);

eachPostgres("PostgREST", (server) => {
  test("hears of every table that an app makes, changes or drops, and of no temporary one", async () => {
    await using database = await createAppDatabase(await server(), { rights: "superuser" });
    const { names, owner } = database.app();
    const admin = database.admin();
    await admin.ensure({ names, owner, ledger: new MemoryLedger(), adopts: false }, never);
    await admin.setPassword({ names, owner, password }, never);
    assert.equal(await admin.tellsByItself(never), true);
    assert.equal(await database.admin().tellsByItself(never), true);

    await using ears = await listen(database.adminUrl);
    const url = database.urlOf(names.appRole, password);
    const heard: [string, number][] = [];
    for (const text of [
      "CREATE TABLE todos (id integer)",
      "CREATE TEMPORARY TABLE mine (id integer)",
      "ALTER TABLE todos ADD title text",
      "INSERT INTO todos VALUES (1)",
      "DROP TABLE todos",
    ]) {
      await database.queryAs(url, text);
      heard.push([text.split(" ").slice(0, 2).join(" "), await ears.soFar()]);
    }
    assert.deepEqual(heard, [
      ["CREATE TABLE", 1],
      ["CREATE TEMPORARY", 0],
      ["ALTER TABLE", 1],
      ["INSERT INTO", 0],
      ["DROP TABLE", 1],
    ]);
  });

  test("hears again after somebody has dropped what told it", async () => {
    await using database = await createAppDatabase(await server(), { rights: "superuser" });
    const clock = new ManualClock();
    let installed = 0;
    const admin = database.admin({
      clock,
      onStatement: ({ statement, phase }) => {
        if (statement === "installReloadTriggers" && phase === "after") installed += 1;
      },
    });
    const triggers = () =>
      database.query("SELECT FROM pg_event_trigger WHERE evtname LIKE 'plattr_reload_%'");
    assert.equal(await admin.tellsByItself(never), true);
    // As a database that was restored from a dump.
    await database.query("DROP SCHEMA plattr_operator CASCADE");
    assert.equal((await triggers()).length, 0);
    assert.equal(await admin.tellsByItself(never), true); // It is not asked with every app.
    assert.equal(installed, 1);
    await clock.advance(300_000);
    assert.equal(await admin.tellsByItself(never), true);
    assert.deepEqual([(await triggers()).length, installed], [2, 2]);
  });

  test("is told by us where we may install nothing", async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    const admin = database.admin();
    assert.equal(await admin.tellsByItself(never), false);
    await using ears = await listen(database.adminUrl);
    await admin.tellOfChanges(never);
    assert.equal(await ears.soFar(), 1);
  });
});

/** Hears what PostgREST would. */
async function listen(url: string) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  let heard = 0;
  let marks = 0;
  let reached = Promise.withResolvers<void>();
  await sql.listen("pgrst", (payload) => {
    if (payload.startsWith("mark")) reached.resolve();
    else if (payload === "reload schema") heard += 1;
  });
  return {
    /** How often it was told since the last time it was asked. What is sent in order arrives in order. */
    soFar: async (): Promise<number> => {
      reached = Promise.withResolvers();
      await sql.notify("pgrst", `mark ${++marks}`);
      await reached.promise;
      const count = heard;
      heard = 0;
      return count;
    },
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  };
}
