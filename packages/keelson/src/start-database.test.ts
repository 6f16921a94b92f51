import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, systemRandom } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import { openDatabase, SchemaTooNew, statement } from "@keelson/database";
import { patience, sharedThrowawayPostgres } from "@keelson/database/testing";
import { loadConfig } from "./config.ts";
import { PrometheusMetrics } from "./prometheus.ts";
import { startDatabase } from "./start-database.ts";
import { StartError } from "./start-error.ts";

const forgetNewest = statement<undefined>(
  "forgetNewest",
  (sql) => sql`
    DELETE FROM keelson.schema_migrations m WHERE component = 'fleet' AND number =
      (SELECT max(number) FROM keelson.schema_migrations WHERE component = 'fleet')`,
);
const recordNext = statement<undefined>(
  "recordNext",
  (sql) => sql`
    INSERT INTO keelson.schema_migrations (schema, component, number, name, sha256)
    SELECT schema, component, max(number) + 1, 'of-a-newer-version', '' FROM keelson.schema_migrations
    WHERE component = 'fleet' GROUP BY schema, component`,
);

const makeForeign = statement<undefined>(
  "makeForeign",
  (sql) => sql`CREATE SCHEMA fleet CREATE TABLE resources (id integer)`,
);

async function optionsFor(url: string, log = new RecordingLog()) {
  const config = await loadConfig({
    flags: { "database-url": url },
    environment: {},
    workingFolder: "/nowhere",
    purpose: "up",
    isTerminal: false,
  });
  return {
    config,
    dataDir: "/nowhere",
    clock: systemClock,
    random: systemRandom,
    log,
    metrics: new PrometheusMetrics({ withProcess: false }),
    onRun: undefined,
    onProgress: () => undefined,
  };
}

test("who runs goes on when a newer replica migrates, and nobody starts on what it does not know", async (t) => {
  const server = await sharedThrowawayPostgres("embedded");
  await using owned = await server.createDatabase();
  const log = new RecordingLog();
  const options = await optionsFor(owned.url, log);
  await using started = await startDatabase(options, t.signal);
  await started.check(t.signal);

  await started.database.run(recordNext, undefined, t.signal);
  await started.check(t.signal);
  await started.check(t.signal);
  assert.deepEqual(log.messages("warn"), ["outdated: a newer version has migrated the database"]);
  await assert.rejects(startDatabase(options, t.signal), (error) => {
    assert.ok(error instanceof StartError && error.cause instanceof SchemaTooNew, String(error));
    assert.match(
      error.message,
      /^the PostgreSQL database .*: run the version that made it, or name another with --database-url$/,
    );
    return true;
  });

  await started.database.run(forgetNewest, undefined, t.signal);
  await started.database.run(forgetNewest, undefined, t.signal);
  await assert.rejects(started.check(t.signal), /the schema of the database is behind/);
});

test("a schema in which somebody else has made tables of our names is told of in a sentence", async (t) => {
  const server = await sharedThrowawayPostgres("embedded");
  await using owned = await server.createDatabase();
  await using other = openDatabase({ url: owned.url, name: "test", ...patience });
  await other.run(makeForeign, undefined, t.signal);
  await assert.rejects(startDatabase(await optionsFor(owned.url), t.signal), (error) => {
    assert.ok(error instanceof StartError, String(error));
    assert.equal(error.code, "DATABASE_UNAVAILABLE");
    assert.equal(
      error.message,
      `the PostgreSQL database ${owned.name} at 127.0.0.1:${server.port}: ` +
        "migration 0001-desired-applied-current of fleet failed on schema fleet, and nothing of it was kept: " +
        'relation "resources" already exists: ' +
        "see what somebody else has made in that schema, or name another with --database-url",
    );
    return true;
  });
});
