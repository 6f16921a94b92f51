// The contract suite on every database the store runs on.

import { sharedThrowawayPostgres, systemPostgresFound } from "@keelson/database/testing";
import { describeStore, postgresFixture, sqliteFile, sqliteMemory } from "./testing/index.ts";

const embedded = postgresFixture({
  name: "PostgreSQL, embedded",
  missing: undefined,
  url: async () => (await sharedThrowawayPostgres("embedded")).url,
});
const system = postgresFixture({
  name: "PostgreSQL, of this machine",
  missing: (await systemPostgresFound()) ? undefined : "no PostgreSQL is installed here",
  url: async () => (await sharedThrowawayPostgres("system")).url,
});

for (const fixture of [sqliteMemory, sqliteFile, embedded, system]) describeStore(fixture);
