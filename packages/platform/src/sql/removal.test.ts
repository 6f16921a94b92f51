import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { eachPostgres } from "@keelson/database/testing";
import postgres from "postgres";

import type { StepError } from "../steps/step-error.ts";
import {
  createAppDatabase,
  leftovers,
  MemoryLedger,
  nothing,
  stateOf,
  type AdminRights,
  type AppDatabase,
} from "../testing/index.ts";
import type { DatabaseAdmin } from "./database-admin.ts";

const never = new AbortController().signal;
const password = "5e".repeat(32);
const eachRights: readonly AdminRights[] = ["superuser", "ordinary"];

eachPostgres("the end of an app's database", (server) => {
  for (const rights of eachRights) {
    suite(`${rights} administrator`, () => {
      test("nothing of it is left, whatever the app had made, and nobody stays logged in", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const { names, owner, ledger, url } = await madeApp(database, admin);
        await fill(database, url, names.schema);
        const open = postgres(url, { max: 1, onnotice: () => {} });
        await open`SELECT 1`;
        await admin.remove({ owner, ledger }, never);
        await assert.rejects(open`SELECT 1`.execute());
        await open.end({ timeout: 0 });
        assert.deepEqual(await leftovers(database, owner.name), nothing);
        assert.deepEqual(ledger.contents, []);
        assert.deepEqual(ledger.written.slice(6), [
          `Role ${names.anonRole} Deleting`,
          `Schema ${names.schema} Deleting`,
          `Role ${names.appRole} Deleting`,
          `Role ${names.anonRole} gone`,
          `Role ${names.appRole} gone`,
          `Schema ${names.schema} gone`,
        ]);
      });

      test("it can be done again, and of half of it", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const { names, owner, ledger } = await madeApp(database, admin);
        await database.query(`DROP OWNED BY ${names.anonRole}; DROP ROLE ${names.anonRole}`);
        await admin.remove({ owner, ledger }, never);
        for (const state of ["Creating", "Deleting"] as const) {
          await ledger.record({ kind: "Schema", name: names.schema, state });
          await ledger.record({ kind: "Role", name: names.appRole, state });
          await admin.remove({ owner, ledger }, never);
        }
        assert.deepEqual(await leftovers(database, owner.name), nothing);
        assert.deepEqual(ledger.contents, []);
      });

      test("wanted again half-way, it is whole or begins anew", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const { names, ledger, url, owner } = await madeApp(database, database.admin());
        for (let statements = 1, isCut = true; isCut; statements += 1) {
          await database.queryAs(
            url,
            "CREATE TABLE IF NOT EXISTS todos (id integer); INSERT INTO todos VALUES (1)",
          );
          isCut = false;
          let left = statements;
          const admin = database.admin({
            onStatement: ({ phase }) => {
              if (phase !== "after" || left-- > 0) return;
              isCut = true;
              throw new Error("cut off");
            },
          });
          await admin.remove({ owner, ledger }, never).catch((error: Error) => {
            assert.match(error.message, /cut off/);
          });
          await database.admin().ensure({ names, owner, ledger, adopts: false }, never);
          await database.admin().setPassword({ names, owner, password }, never);
          const tables = await database.queryAs(
            url,
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
          );
          if (tables.length === 0) continue;
          // Its own to change, and everybody's to read.
          await database.queryAs(url, "ALTER TABLE todos ADD COLUMN IF NOT EXISTS done boolean");
          await database.queryAs(url, `SET ROLE ${names.anonRole}; SELECT * FROM todos`);
        }
      });

      test("objects in another database are in its way, and named", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        await using other = await (await server()).createDatabase();
        const admin = database.admin();
        const { names, owner, ledger } = await madeApp(database, admin);
        const elsewhere = (text: string) => database.queryAs(other.url, text);
        await elsewhere(`CREATE SCHEMA there; GRANT USAGE ON SCHEMA there TO ${names.appRole}`);
        await assert.rejects(
          admin.remove({ owner, ledger }, never),
          ({ reason, message }: StepError) =>
            reason === "CleanupFailed" &&
            message.includes(
              `role ${names.appRole} owns or may use 1 object in database ${other.name}`,
            ),
        );
        assert.equal(ledger.contents.length, 3);
        await elsewhere(`DROP OWNED BY ${names.appRole}`);
        await admin.remove({ owner, ledger }, never);
        assert.deepEqual(await leftovers(database, owner.name), nothing);
      });

      test("what it made outside its schema stays, as the administrator's", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const { names, owner, ledger, url } = await madeApp(database, admin);
        await database.queryAs(
          database.adminUrl,
          `CREATE SCHEMA shared; GRANT ALL ON SCHEMA shared TO ${names.appRole}`,
        );
        await database.queryAs(url, "CREATE TABLE shared.report (id integer)");
        await admin.remove({ owner, ledger }, never);
        const tables = await database.query(
          "SELECT tablename, tableowner FROM pg_tables WHERE schemaname = 'shared'",
        );
        assert.deepEqual(tables, [{ tablename: "report", tableowner: database.adminName }]);
      });

      test("rights that somebody else gave to it go too, or are named", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const { names, owner, ledger } = await madeApp(database, admin);
        const { schema, appRole } = names;
        await database.query(
          `CREATE TABLE ${schema}.somebodys (id integer); GRANT SELECT ON ${schema}.somebodys TO ${appRole}`,
        );
        if (rights === "ordinary") {
          await assert.rejects(
            admin.remove({ owner, ledger }, never),
            ({ reason, message }: StepError) =>
              reason === "CleanupFailed" &&
              message.includes(`privileges for table ${schema}.somebodys`),
          );
          await database.query(`DROP TABLE ${schema}.somebodys`);
        }
        await admin.remove({ owner, ledger }, never);
        assert.deepEqual(await leftovers(database, owner.name), nothing);
      });

      test("what is kept opens to nobody but a successor of the same name that asks for it", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const { names, owner, ledger, url } = await madeApp(database, admin);
        const before = await stateOf(database, names);
        await database.queryAs(url, "CREATE TABLE kept (id integer); INSERT INTO kept VALUES (7)");
        await admin.retain({ owner, ledger }, never);
        assert.deepEqual(
          ledger.contents.map((entry) => entry.split(" ").at(-1)),
          ["Retained", "Retained", "Retained"],
        );
        await assert.rejects(database.queryAs(url, "SELECT 1"), { code: "28000" });
        const kept = await stateOf(database, names);
        await admin.retain({ owner, ledger }, never);
        assert.deepEqual(await stateOf(database, names), kept);

        const successor = { ...owner, uid: "ab-1" };
        const ensure = (by: typeof owner, adopts: boolean) =>
          admin.ensure({ names, owner: by, ledger: new MemoryLedger(), adopts }, never);
        await assert.rejects(ensure(successor, false), {
          reason: "Conflict",
          message: /left it behind: annotate this one with platform\.internal\/adopt/,
        });
        const stranger = { ...successor, namespace: "elsewhere" };
        await assert.rejects(ensure(stranger, true), { reason: "Conflict" });
        assert.deepEqual(await stateOf(database, names), kept);

        await ensure(successor, true);
        assert.deepEqual(await database.queryAs(url, "SELECT id FROM kept"), [{ id: 7 }]);
        // Its first owner has lost it.
        await admin.remove({ owner, ledger }, never);
        assert.deepEqual(await database.queryAs(url, "SELECT id FROM kept"), [{ id: 7 }]);
        const text = (state: unknown) => JSON.stringify(state).replaceAll("ab-1", owner.uid);
        assert.equal(text(await stateOf(database, names)), text(before));
      });

      test("what is kept is its successor's to use, though its roles were lost", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const { names, owner, ledger, url } = await madeApp(database, admin);
        const { schema, appRole, anonRole } = names;
        await database.queryAs(
          url,
          `CREATE TYPE mood AS ENUM ('fine'); CREATE DOMAIN word AS text; CREATE TYPE pair AS (a integer, b integer);
           CREATE TABLE kept (id serial PRIMARY KEY, mood mood, number integer GENERATED ALWAYS AS IDENTITY);
           INSERT INTO kept (mood) VALUES ('fine');
           CREATE TABLE parts (id integer) PARTITION BY LIST (id); CREATE TABLE "part 1" PARTITION OF parts DEFAULT;
           CREATE VIEW seen AS SELECT * FROM kept; CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM kept;
           CREATE SEQUENCE steps; CREATE AGGREGATE number(*) (sfunc = int8inc, stype = int8, initcond = '0');
           CREATE FUNCTION shout() RETURNS text LANGUAGE sql AS 'SELECT ''!''::text';
           CREATE PROCEDURE touch(given integer) LANGUAGE sql AS 'UPDATE ${schema}.kept SET mood = mood'`,
        );
        await database.queryAs(
          database.adminUrl,
          "CREATE SCHEMA other; CREATE TABLE other.mine (id integer)",
        );
        await database.query(`CREATE TABLE ${schema}.somebodys (id integer)`);
        await admin.retain({ owner, ledger }, never);
        await database.queryAs(
          database.adminUrl,
          `REASSIGN OWNED BY ${appRole} TO CURRENT_USER; DROP OWNED BY ${anonRole}; DROP OWNED BY ${appRole};
           DROP ROLE ${appRole}, ${anonRole}`,
        );

        const wanted = {
          names,
          owner: { ...owner, uid: "ab-1" },
          ledger: new MemoryLedger(),
          adopts: true,
        };
        assert.ok((await admin.ensure(wanted, never)).includes("takeContent"));
        assert.deepEqual(await admin.ensure(wanted, never), []);
        await admin.setPassword({ ...wanted, password }, never);
        await database.queryAs(
          url,
          `INSERT INTO kept (mood) SELECT mood FROM seen; INSERT INTO parts VALUES (1); CALL touch(1);
           SELECT shout(), nextval('steps'), number(*) FROM kept; REFRESH MATERIALIZED VIEW counted;
           ALTER TABLE kept ADD COLUMN word word; ALTER TABLE "part 1" ADD CHECK (id < 7);
           ALTER TYPE mood ADD VALUE 'tired'; ALTER TYPE pair ADD ATTRIBUTE c integer; DROP DOMAIN word CASCADE;
           CREATE OR REPLACE FUNCTION shout() RETURNS text LANGUAGE sql AS 'SELECT ''!!''::text'; DROP AGGREGATE number(*)`,
        );
        // What its owner had closed to everybody may be among it: none of it is opened anew.
        await assert.rejects(
          database.queryAs(url, `SET ROLE ${anonRole}; SELECT FROM ${schema}.kept`),
          { code: "42501" },
        );
        const others = await database.query(
          `SELECT FROM pg_tables WHERE tablename IN ('mine', 'somebodys') AND tableowner = '${appRole}'`,
        );
        assert.equal(others.length, rights === "superuser" ? 1 : 0);
        await admin.remove({ owner: wanted.owner, ledger: wanted.ledger }, never);
      });

      test("what was switched off is its owner's again when it is switched on", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const { names, owner, ledger, url } = await madeApp(database, admin);
        const before = await stateOf(database, names);
        await admin.retain({ owner, ledger }, never);
        await admin.ensure({ names, owner, ledger, adopts: false }, never);
        assert.deepEqual(await stateOf(database, names), before);
        assert.equal((await database.queryAs(url, "SELECT 1")).length, 1);
        await admin.retain({ owner, ledger }, never);
        await admin.remove({ owner, ledger }, never);
        assert.deepEqual(await leftovers(database, owner.name), nothing);
      });
    });
  }

  test("many tables are a new role's some at a time, and whoever is cut off goes on where that was", async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    const { names, owner, ledger, url } = await madeApp(database, database.admin());
    const { appRole, anonRole } = names;
    await database.queryAs(
      url,
      `DO $$ BEGIN FOR number IN 1..250 LOOP
         EXECUTE format('CREATE TABLE "todos %s" (id serial PRIMARY KEY)', number);
       END LOOP; END $$`,
    );
    await database.queryAs(
      database.adminUrl,
      `REASSIGN OWNED BY ${appRole} TO CURRENT_USER; DROP OWNED BY ${anonRole}; DROP OWNED BY ${appRole};
       DROP ROLE ${appRole}, ${anonRole}`,
    );
    const own = async () =>
      (await database.query(`SELECT FROM pg_tables WHERE tableowner = '${appRole}'`)).length;
    let taken = 0;
    const cutOff = database.admin({
      timeoutMs: 120_000,
      onStatement: ({ statement, phase }) => {
        if (statement !== "takeContent") return;
        if (phase === "after") taken += 1;
        else if (taken === 1) throw new Error("cut off");
      },
    });
    const wanted = { names, owner, ledger, adopts: false };
    await assert.rejects(cutOff.ensure(wanted, never), /cut off/);
    assert.equal(await own(), 100);
    const admin = database.admin({ timeoutMs: 120_000 });
    assert.deepEqual(await admin.ensure(wanted, never), ["takeContent", "ownSchema"]);
    assert.equal(await own(), 250);
    assert.deepEqual(await admin.ensure(wanted, never), []);
    await admin.remove({ owner, ledger }, never);
    assert.deepEqual(await leftovers(database, owner.name), nothing);
  });

  test("many tables go some at a time, and whoever is cut off goes on where that was", async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    let isCutOff = true;
    let dropped = 0;
    const admin = database.admin({
      timeoutMs: 120_000,
      onStatement: ({ statement, phase }) => {
        if (statement === "dropSome" && phase === "after") dropped += 1;
        if (statement === "dropSome" && phase === "before" && isCutOff && dropped === 1) {
          throw new Error("cut off");
        }
      },
    });
    const { names, owner, ledger, url } = await madeApp(database, admin);
    await database.queryAs(
      url,
      `CREATE TABLE days (day integer, PRIMARY KEY (day)) PARTITION BY LIST (day);
       CREATE TABLE notes (day integer REFERENCES days);
       CREATE VIEW today AS SELECT * FROM days WHERE day = 7;
       DO $$ BEGIN FOR day IN 1..250 LOOP
         EXECUTE format('CREATE TABLE "day %s" PARTITION OF days FOR VALUES IN (%s)', day, day);
       END LOOP; END $$`,
    );
    const tables = () =>
      database.query(`SELECT FROM pg_tables WHERE schemaname = '${names.schema}'`);
    assert.equal((await tables()).length, 252);
    await assert.rejects(admin.remove({ owner, ledger }, never), /cut off/);
    assert.equal((await tables()).length, 152);
    isCutOff = false;
    await admin.remove({ owner, ledger }, never);
    assert.equal(dropped, 2);
    assert.deepEqual(await leftovers(database, owner.name), nothing);
    assert.deepEqual(ledger.contents, []);
  });

  test("wanted again when some of many tables are gone, it begins anew; before that it is kept", async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    const { names, owner, ledger, url } = await madeApp(database, database.admin());
    await database.queryAs(
      url,
      `DO $$ BEGIN FOR number IN 1..250 LOOP
         EXECUTE format('CREATE TABLE "todos %s" ()', number);
       END LOOP; END $$`,
    );
    for (const { batches, kept } of [
      { batches: 0, kept: 250 },
      { batches: 1, kept: 0 },
    ]) {
      let left = batches;
      const cutOff = database.admin({
        onStatement: ({ statement, phase }) => {
          if (statement !== "dropSome" || phase !== "before") return;
          if (left-- === 0) throw new Error("cut off");
        },
      });
      await assert.rejects(cutOff.remove({ owner, ledger }, never), /cut off/);
      const admin = database.admin({ timeoutMs: 120_000 });
      await admin.ensure({ names, owner, ledger, adopts: false }, never);
      await admin.setPassword({ names, owner, password }, never);
      const tables = "SELECT FROM pg_tables WHERE schemaname = current_schema()";
      assert.equal((await database.queryAs(url, tables)).length, kept);
    }
    await database.admin().remove({ owner, ledger }, never);
    assert.deepEqual(await leftovers(database, owner.name), nothing);
  });

  test("many views, functions and types go some at a time, what depends on others before them", async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    let locksMax = 0;
    const admin = database.admin({
      timeoutMs: 120_000,
      onStatement: async ({ statement, phase }) => {
        if (!/^drop(Some|Schema)$/.test(statement) || phase !== "after") return;
        // A transaction keeps them to its end.
        const [held] = await database.query<{ locks: number }>(
          `SELECT count(*)::integer AS locks FROM pg_locks l JOIN pg_stat_activity a USING (pid)
           WHERE a.usename = '${database.adminName}'`,
        );
        locksMax = Math.max(locksMax, held?.locks ?? 0);
      },
    });
    const { owner, ledger, url } = await madeApp(database, admin);
    await database.queryAs(
      url,
      `CREATE TABLE "a todo" (id serial PRIMARY KEY);
       CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
       CREATE TRIGGER touched BEFORE UPDATE ON "a todo" FOR EACH ROW EXECUTE FUNCTION touch();
       CREATE TYPE span AS RANGE (subtype = integer);
       DO $$ BEGIN FOR number IN 1..600 LOOP
         EXECUTE format('CREATE VIEW "view %s" AS SELECT * FROM "a todo"', number);
         EXECUTE format('CREATE FUNCTION "of %s"("a todo", variadic span[]) RETURNS int LANGUAGE sql RETURN 1', number);
         EXECUTE format('CREATE DOMAIN "word %s" AS text', number);
         EXECUTE format('CREATE SEQUENCE "count %s"', number);
       END LOOP; END $$;
       CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM "view 1";
       CREATE AGGREGATE number(*) (sfunc = int8inc, stype = int8, initcond = '0');
       CREATE PROCEDURE "do it"(given integer, span) LANGUAGE sql AS ''`,
    );
    await admin.remove({ owner, ledger }, never);
    assert.deepEqual(await leftovers(database, owner.name), nothing);
    assert.deepEqual(ledger.contents, []);
    assert.ok(locksMax > 0 && locksMax < 2_000, `${locksMax} locks at once`);
  });

  test("its large objects go with it, some at a time; cut off there, it begins anew", async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    const { names, owner, ledger, url } = await madeApp(database, database.admin());
    const fill = `CREATE TABLE todos (); SELECT lo_from_bytea(0, 'x') FROM generate_series(1, 1200);
      SET ROLE ${names.anonRole}; SELECT lo_create(0)`;
    await database.queryAs(url, fill);
    let batches = 1;
    const cutOff = database.admin({
      onStatement: ({ statement, phase }) => {
        if (statement !== "unlinkLargeObjects" || phase !== "before") return;
        if (batches-- === 0) throw new Error("cut off");
      },
    });
    await assert.rejects(cutOff.remove({ owner, ledger }, never), /cut off/);
    const left = await largeObjects(database);
    assert.ok(left > 0 && left < 1201, `${left} are left`);
    await database.admin().ensure({ names, owner, ledger, adopts: false }, never);
    await database.admin().setPassword({ names, owner, password }, never);
    assert.equal(await largeObjects(database), 0);
    await database.queryAs(url, fill);
    await database.admin().remove({ owner, ledger }, never);
    assert.equal(await largeObjects(database), 0);
    assert.deepEqual(await leftovers(database, owner.name), nothing);
  });

  test("large objects stay where a table of it does that may name them", async () => {
    await using database = await createAppDatabase(await server(), { rights: "ordinary" });
    const { names, owner, ledger, url } = await madeApp(database, database.admin());
    await database.queryAs(
      database.adminUrl,
      `CREATE SCHEMA shared; GRANT ALL ON SCHEMA shared TO ${names.appRole}`,
    );
    await database.queryAs(url, "CREATE TABLE shared.photos AS SELECT lo_create(0) AS photo");
    await database.admin().remove({ owner, ledger }, never);
    assert.equal(await largeObjects(database), 1);
  });

  test("an app that never had one costs no statement", async () => {
    await using database = await createAppDatabase(await server(), { rights: "superuser" });
    const admin = database.admin({
      onStatement: ({ statement }) => assert.fail(`${statement} was run`),
    });
    const leaving = { owner: database.app().owner, ledger: new MemoryLedger() };
    await admin.remove(leaving, never);
    await admin.retain(leaving, never);
  });
});

async function madeApp(database: AppDatabase, admin: DatabaseAdmin) {
  const { names, owner } = database.app();
  const ledger = new MemoryLedger();
  await admin.ensure({ names, owner, ledger, adopts: false }, never);
  await admin.setPassword({ names, owner, password }, never);
  return { names, owner, ledger, url: database.urlOf(names.appRole, password) };
}

async function largeObjects(database: AppDatabase): Promise<number> {
  return (await database.query("SELECT FROM pg_largeobject_metadata")).length;
}

/** Of everything an app can make, one; and of what others can make in its schema, too. */
async function fill(database: AppDatabase, url: string, schema: string): Promise<void> {
  await database.queryAs(
    url,
    `CREATE TABLE todos (id serial PRIMARY KEY, title text);
     CREATE VIEW titles AS SELECT title FROM todos;
     CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM todos;
     CREATE TYPE colour AS ENUM ('red');
     CREATE DOMAIN word AS text;
     CREATE FUNCTION shout() RETURNS text LANGUAGE sql AS 'SELECT ''!''::text';
     CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
     CREATE TRIGGER touched BEFORE UPDATE ON todos FOR EACH ROW EXECUTE FUNCTION touch();
     ALTER TABLE todos ENABLE ROW LEVEL SECURITY;
     CREATE POLICY readable ON todos FOR SELECT USING (true);
     ALTER DEFAULT PRIVILEGES GRANT SELECT ON SEQUENCES TO PUBLIC`,
  );
  await database.queryAs(database.adminUrl, `CREATE TABLE ${schema}.seeds (id serial)`);
  await database.query(`CREATE TABLE ${schema}.somebodys (id integer)`);
}
