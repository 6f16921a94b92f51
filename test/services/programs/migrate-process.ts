// One of several replicas that start at once: says what it migrated.

import { migrate, openDatabase, outboxMigrations, sharedMigrations } from "@keelson/database";
import { patience } from "@keelson/database/testing";

await using database = openDatabase({
  url: process.argv[2] ?? "",
  name: "replica",
  ...patience,
});
const sets = [sharedMigrations, outboxMigrations("lifecycle"), outboxMigrations("shop")];
const applied = await migrate(database, sets, new AbortController().signal);
process.stdout.write(JSON.stringify(applied));
