import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { openDatabase, type DatabaseOptions } from "./database.ts";
import { DatabaseUnavailable, isTransient } from "./errors.ts";
import {
  isMigrated,
  migrate,
  MigrationChanged,
  MigrationFailed,
  SchemaTooNew,
  type MigrationSet,
} from "./migrations.ts";
import { statement } from "./sql/statement.ts";
import { eachPostgres } from "./testing/each-postgres.ts";
import { patience } from "./testing/patience.ts";

const never = new AbortController().signal;
const tables = statement<string, { table_name: string }>(
  "tables",
  (sql, schema) => sql`
    SELECT table_name FROM information_schema.tables WHERE table_schema = ${schema} ORDER BY 1`,
);

const first = {
  "0001-init.sql": "CREATE TABLE things (id integer); INSERT INTO things VALUES (1);",
};
const second = { "0002-more.sql": "CREATE TABLE more (id integer);" };

eachPostgres("migrations", (server) => {
  async function fresh(options: Partial<DatabaseOptions> = {}) {
    const stack = new AsyncDisposableStack();
    const { url } = stack.use(await (await server()).createDatabase());
    const open = (options: Partial<DatabaseOptions> = {}) =>
      stack.use(openDatabase({ url, name: "test", ...patience, ...options }));
    const folders: string[] = [];
    stack.defer(async () => {
      for (const folder of folders) await rm(folder, { recursive: true });
    });
    const set = async (files: Record<string, string>): Promise<MigrationSet> => {
      const folder = await mkdtemp(join(tmpdir(), "keelson-migrations-"));
      folders.push(folder);
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      return { component: "shop", schema: "shop", folder: pathToFileURL(`${folder}/`) };
    };
    return {
      database: open(options),
      open,
      set,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  }

  test("what is missing is applied, once, and a second run does nothing", async () => {
    await using it = await fresh();
    const old = await it.set(first);
    const both = await it.set({ ...first, ...second });
    assert.equal(await isMigrated(it.database, [old], never), false);
    assert.deepEqual(await migrate(it.database, [old], never), ["shop/shop/0001-init"]);
    assert.deepEqual(await migrate(it.database, [old], never), []);
    assert.equal(await isMigrated(it.database, [old], never), true);
    assert.equal(await isMigrated(it.database, [both], never), false);
    assert.deepEqual(await migrate(it.database, [both], never), ["shop/shop/0002-more"]);
    const names = (await it.database.run(tables, "shop", never)).map((row) => row.table_name);
    assert.deepEqual(names, ["more", "things"]);
  });

  test("ten at once apply each migration once", async () => {
    await using it = await fresh();
    const both = await it.set({ ...first, ...second });
    const applied = await Promise.all(
      Array.from({ length: 10 }, () => migrate(it.open({ connectionsMax: 1 }), [both], never)),
    );
    assert.deepEqual(applied.flat().sort(), ["shop/shop/0001-init", "shop/shop/0002-more"]);
  });

  test("a newer schema is refused, an edited migration too, and both by name", async () => {
    await using it = await fresh();
    await migrate(it.database, [await it.set({ ...first, ...second })], never);
    const old = await it.set(first);
    await assert.rejects(migrate(it.database, [old], never), (error) => {
      assert.ok(error instanceof SchemaTooNew);
      assert.deepEqual([error.known, error.found], [1, 2]);
      return true;
    });
    const edited = await it.set({ "0001-init.sql": "SELECT 1", ...second });
    await assert.rejects(migrate(it.database, [edited], never), MigrationChanged);
  });

  test("a migration that fails leaves nothing of itself, and those before it stay", async () => {
    await using it = await fresh();
    const broken = { "0002-more.sql": "CREATE TABLE more (id integer); SELECT nothing;" };
    await assert.rejects(
      migrate(it.database, [await it.set({ ...first, ...broken })], never),
      MigrationFailed,
    );
    const names = (await it.database.run(tables, "shop", never)).map((row) => row.table_name);
    assert.deepEqual(names, ["things"]);
    const both = await it.set({ ...first, ...second });
    assert.deepEqual(await migrate(it.database, [both], never), ["shop/shop/0002-more"]);
  });

  test("a gap in the numbers is a mistake", async () => {
    await using it = await fresh();
    const gap = await it.set({ ...first, "0003-later.sql": "" });
    await assert.rejects(migrate(it.database, [gap], never), TypeError);
  });

  test("a fault at any statement is made good by the next run", async () => {
    let left = Infinity;
    await using it = await fresh({
      onStatement: () => {
        if (--left === 0) throw new DatabaseUnavailable("a fault");
      },
    });
    const files = await it.set({ ...first, ...second });
    for (let n = 1; ; n++) {
      const set = { ...files, schema: `shop_${n}` };
      left = n;
      const outcome = await migrate(it.database, [set], never).catch((error: unknown) => error);
      left = Infinity;
      if (Array.isArray(outcome)) break;
      assert.ok(isTransient(outcome), String(outcome));
      await migrate(it.database, [set], never);
      const names = (await it.database.run(tables, set.schema, never)).map((row) => row.table_name);
      assert.deepEqual(names, ["more", "things"]);
    }
  });
});
