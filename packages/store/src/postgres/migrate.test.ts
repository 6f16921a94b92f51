// Who may use a database, and how its tables come to be.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { systemClock } from "@keelson/base";
import { SchemaMismatch } from "../errors.ts";
import { Store } from "../store.ts";
import { everywhere, key, object, signal } from "../testing/bed.ts";
import { freshDatabase } from "../testing/postgres-bed.ts";
import { PostgresBackend } from "./backend.ts";
import { migratePostgres, schemaVersion } from "./migrate.ts";
import postgres from "postgres";

suite("migration of PostgreSQL", () => {
  test("a database without our tables is refused, with the command that helps", async () => {
    await using bare = await freshDatabase(sharedThrowawayPostgres("embedded"), {
      isMigrated: false,
    });
    await assert.rejects(
      bare.open(),
      (error) =>
        error instanceof SchemaMismatch && error.message.includes("keelson apiserver migrate"),
    );
  });

  test("of ten that migrate at once one does the work", async () => {
    await using bare = await freshDatabase(sharedThrowawayPostgres("embedded"), {
      isMigrated: false,
    });
    const { url } = bare;
    const versions = await Promise.all(
      Array.from({ length: 10 }, () => migratePostgres({ url, schema: "ark" })),
    );
    assert.deepEqual(new Set(versions), new Set([schemaVersion]));
    await using store = await bare.open();
    assert.equal(await store.head(signal), 1);
  });

  test("an older schema is refused, one step newer is served, two are refused", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    const at = async (version: number): Promise<string> => {
      await sql`UPDATE meta SET schema_version = ${version}`;
      try {
        await (await open())[Symbol.asyncDispose]();
        return "served";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    assert.deepEqual(
      [
        await at(schemaVersion - 1),
        await at(schemaVersion),
        await at(schemaVersion + 1),
        await at(schemaVersion + 2),
      ],
      ["SchemaMismatch", "served", "served", "SchemaMismatch"],
    );
  });

  test("migrating a database of a newer version is refused", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url } = parts;
    await sql`UPDATE meta SET schema_version = 99`;
    await assert.rejects(migratePostgres({ url, schema: "ark" }), SchemaMismatch);
  });

  test("the server needs no more than its role was granted", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, url } = parts;
    const role = `server_${process.pid}`;
    await sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    await migratePostgres({ url, schema: "ark", serverRole: role });
    const own = new URL(url);
    own.username = role;
    own.password = "secret";
    await (async () => {
      const backend = await PostgresBackend.open({ url: own.href, clock: systemClock }, signal);
      await using store = await Store.open({ backend }, signal);
      await store.create(key("a"), object("a"), signal);
      await store.compact(2, signal);
      assert.equal((await store.list(everywhere, {}, signal)).items.length, 1);
    })();
    await sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  test("in a database of its own a plain session of role ark finds the tables by their bare names, any other by the schema", async () => {
    const server = await sharedThrowawayPostgres("embedded");
    await using parts = await freshDatabase(Promise.resolve(server), { isMigrated: false });
    const { sql, url } = parts;
    await sql.unsafe(`CREATE ROLE ark LOGIN PASSWORD 'secret';
      ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ark`);
    const own = new URL(url);
    own.username = "ark";
    own.password = "secret";
    try {
      await migratePostgres({ url: own.href, schema: "ark" });
      await using store = await Store.open(
        { backend: await PostgresBackend.open({ url: own.href, clock: systemClock }, signal) },
        signal,
      );
      await store.create(key("a"), object("a", { spec: { input: "?" } }), signal);
      const [ours, others] = [plainSession(own.href), plainSession(url)];
      const seen = [{ kind: "Query", namespace: "default", name: "a", input: "?" }];
      const look = "SELECT kind, namespace, name, spec ->> 'input' AS input FROM";
      assert.deepEqual(await ours("SHOW search_path"), [{ search_path: '"$user", public' }]);
      assert.deepEqual(await ours(`${look} resources`), seen);
      await assert.rejects(others(`${look} resources`), { code: "42P01" });
      assert.deepEqual(await others(`${look} ark.resources`), seen);
    } finally {
      await sql.unsafe("REASSIGN OWNED BY ark TO CURRENT_USER; DROP OWNED BY ark; DROP ROLE ark");
    }
  });

  test("a shared database is left alone outside our schema", async () => {
    await using parts = await freshDatabase(sharedThrowawayPostgres("embedded"));
    const { sql, open } = parts;
    await using store = await open();
    await store.create(key("a"), object("a"), signal);
    const others =
      await sql`SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public'`;
    assert.deepEqual([...others], []);
    const slots = await sql`SELECT slot_name FROM pg_replication_slots`;
    const publications = await sql`SELECT pubname FROM pg_publication`;
    assert.deepEqual([[...slots], [...publications]], [[], []]);
  });
});

/** As psql would ask: nothing is set but who and where. */
function plainSession(url: string): (text: string) => Promise<readonly object[]> {
  return async (text) => {
    const sql = postgres(url, { max: 1 });
    try {
      return (await sql.unsafe<Record<string, unknown>[]>(text)).map((row) => ({ ...row }));
    } finally {
      await sql.end();
    }
  };
}
