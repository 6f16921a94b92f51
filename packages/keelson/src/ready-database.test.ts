import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { RecordingLog, until } from "@keelson/base/testing";
import { isMigrated, openDatabase, sharedMigrations } from "@keelson/database";
import { patience, sharedThrowawayPostgres } from "@keelson/database/testing";
import { readyDatabase, SchemaBehind } from "./ready-database.ts";
import { StartError } from "./start-error.ts";
import { refusedFailure } from "./start-failure.ts";

const never = new AbortController().signal;
const migrations = [sharedMigrations];
const shared = { migrations, clock: systemClock, random: systemRandom, log: silentLog };

suite("a schema that is left to somebody else", () => {
  test("is waited for, with a line that says so, until somebody has made it", async () => {
    await using owned = await (await sharedThrowawayPostgres("embedded")).createDatabase();
    const options = { url: owned.url, name: "test", ...patience };
    await using database = openDatabase(options);
    const log = new RecordingLog();
    const patient = { ...shared, database, log, autoMigrate: false, patienceMs: 3_600_000 };
    const waiting = readyDatabase(patient, never);
    const isTold = (): boolean =>
      log.entries.some(({ fields }) => String(fields["reason"]).includes("schema is behind"));
    await Promise.race([until(isTold, "it was waited for"), waiting]);
    assert.ok(isTold(), "it was not waited for");
    await using other = openDatabase(options);
    await readyDatabase({ ...shared, database: other, autoMigrate: true, patienceMs: 0 }, never);
    await waiting;
    assert.ok(await isMigrated(database, migrations, never));
  });

  test("is named when patience ends, with what to do", async () => {
    await using owned = await (await sharedThrowawayPostgres("embedded")).createDatabase();
    await using database = openDatabase({ url: owned.url, name: "test", ...patience });
    const hasty = { ...shared, database, autoMigrate: false, patienceMs: 0 };
    await assert.rejects(readyDatabase(hasty, never), (error) => {
      assert.ok(error instanceof SchemaBehind, String(error));
      const told = refusedFailure(error, { databaseUrl: "postgres://me:secret@db:6543/keelson" });
      assert.ok(told instanceof StartError);
      assert.equal(told.code, "DATABASE_UNAVAILABLE");
      assert.equal(
        told.message,
        "the schema of the PostgreSQL database keelson at db:6543 is behind: start one replica without --auto-migrate=false, which brings it up to date",
      );
      return true;
    });
  });
});
