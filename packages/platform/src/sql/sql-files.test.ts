import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eachPostgres, type ThrowawayPostgres } from "@keelson/database/testing";

import { createAppDatabase, MemoryLedger } from "../testing/index.ts";
import { applySqlFiles, type SqlFile } from "./sql-files.ts";

const never = new AbortController().signal;
const program = fileURLToPath(new URL("../../bin/apply-sql-files.js", import.meta.url));
const first = {
  name: "001-init.sql",
  text: "CREATE TABLE todos (id integer); INSERT INTO todos VALUES (1)",
};
const second = { name: "010-more.sql", text: "SET search_path TO public; SELECT 1" };
const third = { name: "02-last.sql", text: "ALTER TABLE todos ADD title text" };

eachPostgres("migrations that are SQL files", (server) => {
  test("run once each, in the order of their names", async () => {
    await using app = await migratedApp(await server());
    assert.deepEqual(await app.apply([third, second, first]), [
      first.name,
      second.name,
      third.name,
    ]);
    assert.deepEqual(await app.apply([first, second, third]), []);
    assert.deepEqual(await app.query("SELECT * FROM todos"), [{ id: 1, title: null }]);
  });

  test("stop at the first that fails, which leaves nothing of itself, and go on there", async () => {
    await using app = await migratedApp(await server());
    const broken = { name: "005.sql", text: "INSERT INTO todos VALUES (2); SELECT nonsense" };
    await assert.rejects(app.apply([first, broken, third]), {
      name: "MigrationFailed",
      message: /^005\.sql: .*column "nonsense" does not exist/,
    });
    assert.deepEqual(await app.query("SELECT * FROM todos"), [{ id: 1 }]);
    const mended = { ...broken, text: "INSERT INTO todos VALUES (2)" };
    assert.deepEqual(await app.apply([first, mended, third]), [mended.name, third.name]);
  });

  test("refuse a file that was changed after it ran", async () => {
    await using app = await migratedApp(await server());
    await app.apply([first]);
    await assert.rejects(
      app.apply([{ ...first, text: "SELECT 2" }, third]),
      /001-init\.sql: it was changed/,
    );
  });

  test("refuse a file that undoes itself, and take one that ends its transaction", async () => {
    await using app = await migratedApp(await server());
    const undone = { name: "002.sql", text: "INSERT INTO todos VALUES (2); ROLLBACK" };
    await assert.rejects(
      app.apply([first, undone]),
      /^MigrationFailed: 002\.sql: it ends with ROLLBACK/,
    );
    const wrapped = { name: "002.sql", text: "BEGIN; INSERT INTO todos VALUES (3); COMMIT" };
    assert.deepEqual(await app.apply([first, wrapped]), [wrapped.name]);
    assert.deepEqual(await app.apply([first, wrapped]), []);
    assert.deepEqual(await app.query("SELECT * FROM todos"), [{ id: 1 }, { id: 3 }]);
  });

  test("may choose how isolated they are, and forget every setting", async () => {
    await using app = await migratedApp(await server());
    const isolated = {
      name: "002.sql",
      text: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; INSERT INTO todos VALUES (2)",
    };
    const wrapped = {
      name: "003.sql",
      text: "BEGIN ISOLATION LEVEL REPEATABLE READ; INSERT INTO todos VALUES (3); RESET ALL; COMMIT",
    };
    assert.deepEqual(await app.apply([first, isolated, wrapped]), [
      first.name,
      isolated.name,
      wrapped.name,
    ]);
    const undone = { ...isolated, name: "004.sql", text: `${isolated.text}; ABORT` };
    await assert.rejects(app.apply([undone]), /004\.sql: it ends with ROLLBACK/);
    const told = { ...undone, text: "RESET ALL; INSERT INTO todos VALUES (4); -- no rollback" };
    assert.deepEqual(await app.apply([told]), [told.name]);
    assert.equal((await app.query("SELECT * FROM todos")).length, 4);
  });

  test("may begin with the mark of their encoding, as some editors write it", async () => {
    await using app = await migratedApp(await server());
    const marked = { ...first, text: `\u{feff}${first.text}` };
    assert.deepEqual(await app.apply([marked]), [first.name]);
    assert.deepEqual(await app.apply([marked]), []);
  });

  test("take turns, and tell no stranger what ran", async () => {
    await using app = await migratedApp(await server());
    const both = await Promise.all([app.apply([first, third]), app.apply([first, third])]);
    assert.deepEqual(both.flat(), [first.name, third.name]);
    const asAnon = `SET ROLE ${app.names.anonRole}; SELECT count(*)::integer AS seen FROM _plattr_migrations`;
    assert.deepEqual((await app.query(asAnon)).flat().at(-1), { seen: 0 });
  });

  test("are run by a program, which says what it did and fails where they do", async () => {
    await using app = await migratedApp(await server());
    const folder = await mkdtemp(join(tmpdir(), "keelson-sql-"));
    const run = () =>
      promisify(execFile)(process.execPath, [program, folder], {
        env: { DATABASE_URL: app.url, DB_SCHEMA: app.names.schema },
      });
    try {
      await writeFile(join(folder, first.name), first.text);
      await writeFile(join(folder, "README.md"), "no SQL");
      assert.equal((await run()).stdout, "applied 001-init.sql\n1 of 1 files were new\n");
      await writeFile(join(folder, "002.sql"), "SELECT nonsense");
      await assert.rejects(run(), { code: 1, stderr: /002\.sql: .*nonsense/ });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

async function migratedApp(server: ThrowawayPostgres) {
  await using setup = new AsyncDisposableStack();
  const database = setup.use(await createAppDatabase(server, { rights: "ordinary" }));
  const { names, owner } = database.app();
  const password = "0a".repeat(32);
  const admin = database.admin();
  await admin.ensure({ names, owner, ledger: new MemoryLedger(), adopts: false }, never);
  await admin.setPassword({ names, owner, password }, never);
  const url = database.urlOf(names.appRole, password);
  const kept = setup.move();
  return {
    names,
    url,
    query: (text: string) => database.queryAs(url, text),
    apply: (files: readonly SqlFile[]) =>
      applySqlFiles({ url, schema: names.schema, files }, never),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
