import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { eachPostgres } from "@keelson/database/testing";

import { createAppDatabase, MemoryLedger, stateOf, type AdminRights } from "../testing/index.ts";
import type { StepError } from "../steps/step-error.ts";
import { quoted } from "./identifier.ts";

const never = new AbortController().signal;
const password = "5e".repeat(32);
const eachRights: readonly AdminRights[] = ["superuser", "ordinary"];

eachPostgres("the database of an app", (server) => {
  for (const rights of eachRights) {
    suite(`${rights} administrator`, () => {
      test("is made once, with its owner, and then left alone", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const { names, owner } = database.app();
        const ledger = new MemoryLedger();
        const ran: string[] = [];
        const admin = database.admin({
          onStatement: ({ statement, phase }) => {
            if (phase !== "before") return;
            ran.push(statement);
            if (statement === "createSchema") assert.equal(ledger.written.length, 3);
          },
        });
        const made = await admin.ensure({ names, owner, ledger, adopts: false }, never);
        assert.deepEqual(made.slice(0, 6), [
          "createSchema",
          "ownSchema",
          "createAppRole",
          "ownAppRole",
          "createAnonRole",
          "ownAnonRole",
        ]);
        const objects = [
          `Schema ${names.schema}`,
          `Role ${names.appRole}`,
          `Role ${names.anonRole}`,
        ];
        assert.deepEqual(ledger.written, [
          ...objects.map((object) => `${object} Creating`),
          ...objects.map((object) => `${object} Ready`),
        ]);
        const [found] = await database.query(`
          SELECT obj_description(n.oid) AS schema, pg_get_userbyid(n.nspowner) AS admin,
            shobj_description(a.oid, 'pg_authid') AS app, a.rolcanlogin AS "appLogsIn",
            shobj_description(b.oid, 'pg_authid') AS anon, b.rolcanlogin AS "anonLogsIn"
          FROM pg_namespace n, pg_roles a, pg_roles b WHERE n.nspname = '${names.schema}'
            AND a.rolname = '${names.appRole}' AND b.rolname = '${names.anonRole}'`);
        const comment = `platform.internal/owner ${owner.uid} apps/${owner.name}`;
        assert.deepEqual(found, {
          schema: comment,
          admin: database.adminName,
          app: comment,
          appLogsIn: true,
          anon: comment,
          anonLogsIn: false,
        });

        ran.length = 0;
        assert.deepEqual(await admin.ensure({ names, owner, ledger, adopts: false }, never), []);
        assert.deepEqual(ran, ["inspect"]);
        assert.equal(ledger.written.length, 6);
      });

      test("its roles may do what they shall, and nothing else", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const admin = database.admin();
        const mine = database.app();
        const other = database.app();
        for (const { names, owner } of [mine, other]) {
          const wanted = { names, owner, ledger: new MemoryLedger(), adopts: false };
          await admin.ensure(wanted, never);
          await admin.setPassword({ names, owner, password }, never);
        }
        const { appRole, anonRole, schema } = mine.names;
        const asApp = (text: string) => database.queryAs(database.urlOf(appRole, password), text);
        const asAnon = (text: string) => asApp(`SET ROLE ${quoted(anonRole)}; ${text}`);
        const refused = (asked: Promise<unknown>) => assert.rejects(asked, { code: "42501" });

        // Its own, found by its search path.
        await asApp(`CREATE TABLE todos (id serial PRIMARY KEY, title text);
          INSERT INTO todos (title) VALUES ('one');
          CREATE VIEW titles AS SELECT title FROM todos;
          CREATE FUNCTION shout() RETURNS text LANGUAGE sql AS 'SELECT ''!''::text'`);
        await asAnon(`SELECT FROM ${schema}.todos; SELECT FROM ${schema}.titles`);
        await refused(asAnon(`INSERT INTO ${schema}.todos (title) VALUES ('two')`));
        await refused(asAnon(`DELETE FROM ${schema}.todos`));
        await refused(asAnon(`SELECT ${schema}.shout()`));
        await refused(asAnon(`CREATE TABLE ${schema}.mine (id integer)`));
        // What the administrator makes for it.
        await database.queryAs(database.adminUrl, `CREATE TABLE ${schema}.seeds (id serial)`);
        await asApp("INSERT INTO seeds DEFAULT VALUES; TRUNCATE seeds");
        await asAnon(`SELECT FROM ${schema}.seeds`);
        await refused(asAnon(`INSERT INTO ${schema}.seeds DEFAULT VALUES`));
        // Another's.
        const theirs = other.names;
        await database.queryAs(
          database.urlOf(theirs.appRole, password),
          "CREATE TABLE secrets (id integer)",
        );
        await refused(asApp(`SELECT FROM ${theirs.schema}.secrets`));
        await refused(asApp(`CREATE TABLE ${theirs.schema}.mine (id integer)`));
        await refused(asApp(`SET ROLE ${quoted(theirs.appRole)}`));
        await refused(asApp(`SET ROLE ${quoted(theirs.anonRole)}`));
        await refused(asApp(`SET ROLE ${quoted(database.adminName)}`));
        await refused(asApp(`COMMENT ON SCHEMA ${schema} IS 'mine'`).then(() => asApp("")));
        await refused(asApp("CREATE ROLE mine"));
      });

      test("what somebody changed by hand is put right", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const { names, owner } = database.app();
        const admin = database.admin();
        const wanted = { names, owner, ledger: new MemoryLedger(), adopts: false };
        await admin.ensure(wanted, never);
        const right = await stateOf(database, names);
        const { schema, appRole, anonRole } = names;
        const boss = quoted(database.adminName);
        const changes: readonly (readonly [change: string, repaired: string])[] = [
          [`ALTER ROLE ${appRole} NOLOGIN`, "alterAppRole"],
          [`ALTER ROLE ${anonRole} LOGIN`, "alterAnonRole"],
          [`REVOKE ${anonRole} FROM ${appRole}`, "grantAnonToApp"],
          [`REVOKE CREATE ON SCHEMA ${schema} FROM ${appRole}`, "grantSchemaToApp"],
          [`REVOKE ALL ON SCHEMA ${schema} FROM ${anonRole}`, "grantSchemaToAnon"],
          [`ALTER ROLE ${appRole} RESET search_path`, "setSearchPath"],
          [`ALTER ROLE ${appRole} SET search_path TO public`, "setSearchPath"],
          [
            `ALTER DEFAULT PRIVILEGES FOR ROLE ${appRole} IN SCHEMA ${schema} REVOKE ALL ON TABLES FROM ${anonRole}`,
            "letAnonReadTables",
          ],
          [
            `ALTER DEFAULT PRIVILEGES FOR ROLE ${appRole} GRANT EXECUTE ON FUNCTIONS TO PUBLIC`,
            "keepFunctions",
          ],
          [
            `ALTER DEFAULT PRIVILEGES FOR ROLE ${boss} IN SCHEMA ${schema} REVOKE TRIGGER ON TABLES FROM ${appRole}`,
            "shareTables",
          ],
          [
            `ALTER DEFAULT PRIVILEGES FOR ROLE ${boss} IN SCHEMA ${schema} REVOKE UPDATE ON SEQUENCES FROM ${appRole}`,
            "shareSequences",
          ],
          [
            `ALTER DEFAULT PRIVILEGES FOR ROLE ${boss} IN SCHEMA ${schema} REVOKE SELECT ON TABLES FROM ${anonRole}`,
            "letAnonReadSharedTables",
          ],
        ];
        for (const [change, repaired] of changes) {
          await database.queryAs(database.adminUrl, change);
          assert.deepEqual(await admin.ensure(wanted, never), [repaired], change);
          assert.deepEqual(await stateOf(database, names), right, change);
        }
        await database.queryAs(database.adminUrl, `ALTER SCHEMA ${schema} OWNER TO ${appRole}`);
        assert.ok((await admin.ensure(wanted, never)).includes("takeSchema"));
        assert.deepEqual(await admin.ensure(wanted, never), []);
        assert.deepEqual(await stateOf(database, names), right);
      });

      test("what is somebody else's is not touched", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const ran: string[] = [];
        const admin = database.admin({
          onStatement: ({ statement }) => {
            if (statement !== "connect") ran.push(statement);
          },
        });
        const first = database.app();
        const ledger = new MemoryLedger();
        await admin.ensure({ ...first, ledger, adopts: false }, never);
        const before = await stateOf(database, first.names);

        const second = { ...first.owner, uid: "ff-1" };
        const elsewhere = { uid: "ff-2", namespace: "other", name: "thing" };
        const sameSchema = { ...database.app().names, schema: first.names.schema };
        const sameRole = { ...database.app().names, anonRole: first.names.anonRole };
        for (const [names, owner, adopts] of [
          [first.names, second, false],
          [first.names, second, true], // It was not left behind.
          [first.names, elsewhere, true],
          [sameSchema, elsewhere, false],
          [sameRole, elsewhere, false],
        ] as const) {
          ran.length = 0;
          const theirs = new MemoryLedger();
          await assert.rejects(
            admin.ensure({ names, owner, adopts, ledger: theirs }, never),
            (error: StepError) =>
              error.reason === "Conflict" &&
              error.message.includes(
                `belongs to apps/${first.owner.name} (uid ${first.owner.uid})`,
              ),
          );
          assert.deepEqual([...new Set(ran)], ["inspect"]);
          assert.deepEqual(theirs.written, []);
          await assert.rejects(admin.setPassword({ names: first.names, owner, password }, never), {
            reason: "Conflict",
          });
        }
        assert.deepEqual(await stateOf(database, first.names), before);

        // Nor deleted, though a ledger claims it.
        const claims = new MemoryLedger();
        await claims.record({ kind: "Schema", name: first.names.schema, state: "Creating" });
        await claims.record({ kind: "Role", name: first.names.appRole, state: "Creating" });
        await admin.remove({ owner: second, ledger: claims }, never);
        assert.deepEqual(claims.contents, []);
        assert.deepEqual(await stateOf(database, first.names), before);

        await admin.remove({ owner: first.owner, ledger }, never);
        await admin.ensure(
          { names: first.names, owner: second, ledger: new MemoryLedger(), adopts: false },
          never,
        );
      });

      test("what nobody of ours made is not touched either", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const { names, owner } = database.app();
        await database.query(`CREATE ROLE ${names.anonRole}`);
        const ensured = database
          .admin()
          .ensure({ names, owner, ledger: new MemoryLedger(), adopts: true }, never);
        await assert.rejects(ensured, {
          reason: "Conflict",
          message: `role ${names.anonRole} exists and belongs to no app of ours`,
        });
        const left = await database.query(
          `SELECT FROM pg_namespace WHERE nspname = '${names.schema}'`,
        );
        assert.equal(left.length, 0);
        await database.query(`DROP ROLE ${names.anonRole}`);
      });

      test("a password is the role's from then on, and no other is", async () => {
        await using database = await createAppDatabase(await server(), { rights });
        const { names, owner } = database.app();
        const admin = database.admin();
        await admin.ensure({ names, owner, ledger: new MemoryLedger(), adopts: false }, never);
        const enters = (word: string) =>
          admin.logsIn({ user: names.appRole, password: word }, never);
        assert.equal(await enters(password), false);
        await admin.setPassword({ names, owner, password }, never);
        assert.deepEqual([await enters(password), await enters("11".repeat(32))], [true, false]);
      });
    });
  }
});
