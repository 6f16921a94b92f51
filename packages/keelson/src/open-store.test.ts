import assert from "node:assert/strict";
import { test } from "node:test";
import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { openDatabase, statement } from "@keelson/database";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { Body } from "@keelson/store";
import { loadConfig, type Config } from "./config.ts";
import { migrateStore, openStore } from "./open-store.ts";

const never = new AbortController().signal;
const shared = { clock: systemClock, random: systemRandom, log: silentLog, metrics: noMetrics };
const script = (text: string) =>
  statement<undefined>("script", (sql) => sql.unsafe<object[]>(text).simple());

test("a store of its own schema is migrated by one role and served by another, whose password is any text", async () => {
  const server = await sharedThrowawayPostgres("embedded");
  await using owned = await server.createDatabase();
  await using database = openDatabase({ url: owned.url, name: "test" });
  const role = `serves%41_${process.pid}`;
  const password = "100%/?#[@:é";
  const owner = new URL(owned.url);
  const configFor = (username: string, password: string): Promise<Config> =>
    loadConfig({
      flags: {
        "storage-driver": "postgresql",
        "postgres-host": "127.0.0.1",
        "postgres-port": String(server.port),
        "postgres-database": owned.name,
        "postgres-schema": "other",
        "postgres-server-role": role,
        "postgres-username": username,
        "postgres-sslmode": "disable",
      },
      environment: { POSTGRES_PASSWORD: password },
      workingFolder: "/nowhere",
      purpose: "apiserver",
      isTerminal: false,
    });
  await database.run(
    script(`CREATE ROLE "${role}" LOGIN PASSWORD '${password}'`),
    undefined,
    never,
  );
  try {
    const databaseUrl = () => "";
    await migrateStore({ config: await configFor(owner.username, owner.password), databaseUrl });
    const config = await configFor(role, password);
    await using store = await openStore({ ...shared, config, databaseUrl, migrates: false }, never);
    const key = { kind: "ConfigMap", namespace: "default", name: "a" };
    const { namespace, name } = key;
    const metadata = { name, namespace, uid: "1" };
    const body = Body.of({ apiVersion: "v1", kind: key.kind, metadata });
    await store.create(key, body, never);

    const rows = await database.run(
      script("SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'resources'"),
      undefined,
      never,
    );
    assert.deepEqual([...rows], [{ schema: "other" }]);
  } finally {
    await database.run(script(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`), undefined, never);
  }
});
