import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, systemRandom } from "@keelson/base";
import { RecordingLog } from "@keelson/base/testing";
import { SchemaTooNew, statement } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { loadConfig } from "./config.ts";
import { PrometheusMetrics } from "./prometheus.ts";
import { startDatabase } from "./start-database.ts";

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

test("who runs goes on when a newer replica migrates, and nobody starts on what it does not know", async (t) => {
  const server = await sharedThrowawayPostgres("embedded");
  await using owned = await server.createDatabase();
  const config = await loadConfig({
    flags: { "database-url": owned.url },
    environment: {},
    workingFolder: "/nowhere",
    purpose: "up",
    isTerminal: false,
  });
  const log = new RecordingLog();
  const options = {
    config,
    dataDir: "/nowhere",
    clock: systemClock,
    random: systemRandom,
    log,
    metrics: new PrometheusMetrics({ withProcess: false }),
    onRun: undefined,
    onProgress: () => undefined,
  };
  await using started = await startDatabase(options, t.signal);
  await started.check(t.signal);

  await started.database.run(recordNext, undefined, t.signal);
  await started.check(t.signal);
  await started.check(t.signal);
  assert.deepEqual(log.messages("warn"), ["outdated: a newer version has migrated the database"]);
  await assert.rejects(startDatabase(options, t.signal), SchemaTooNew);

  await started.database.run(forgetNewest, undefined, t.signal);
  await started.database.run(forgetNewest, undefined, t.signal);
  await assert.rejects(started.check(t.signal), /the schema of the database is behind/);
});
