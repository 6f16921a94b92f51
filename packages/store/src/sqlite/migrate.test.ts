// Files of earlier versions: everything in them is found again, and a migration that fails leaves them as they were.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { systemClock } from "@keelson/base";
import { Body } from "../body.ts";
import { Store } from "../store.ts";
import { everywhere, key, kind, object, signal } from "../testing/bed.ts";
import { SqliteBackend } from "./backend.ts";

suite("migration of SQLite", () => {
  test("a file of the first version keeps every object and every column, and is served", async () => {
    await using file = await firstVersion();
    const before = look(file.path);
    assert.equal(before.version, 1);
    assert.deepEqual(
      before.rows.map(({ name, spec, status }) => ({ name, spec, status })),
      [
        { name: "bare", spec: "{}", status: null },
        { name: "full", spec: '{"input":"?"}', status: '{"phase":"done"}' },
        { name: "odd", spec: "null", status: "7" },
      ],
    );
    await (async () => {
      await using store = await open(file.path);
      assert.deepEqual(look(file.path), { ...before, version: 2 });
      const { items, revision } = await store.list(everywhere, {}, signal);
      assert.deepEqual([items.map(({ key }) => key.name), revision], [["bare", "full", "odd"], 4]);
      const body = object("full", { uid: "u-full", spec: { input: "!" } });
      await store.update(key("full"), { body, expect: { revision: 3 } }, signal);
      await store.create(key("new"), object("new"), signal);
      await store.delete(key("odd"), {}, signal);
      const specs = look(file.path).rows.map(({ name, spec }) => [name, spec]);
      assert.deepEqual(specs, [
        ["bare", "{}"],
        ["full", '{"input":"!"}'],
        ["new", "{}"],
      ]);
    })();
    using client = new DatabaseSync(file.path);
    assert.deepEqual(
      { ...client.prepare("PRAGMA integrity_check").get() },
      { integrity_check: "ok" },
    );
  });

  test("a migration that fails half way leaves the file as it was", async () => {
    await using file = await firstVersion();
    const spoil = (text: string): void => {
      using client = new DatabaseSync(file.path);
      client.exec(text);
    };
    const before = look(file.path);
    spoil("CREATE TABLE objects (in_the_way)");
    assert.throws(() => new SqliteBackend({ path: file.path, clock: systemClock }), /objects/);
    assert.deepEqual(look(file.path), before);
    spoil("DROP TABLE objects");
    await using store = await open(file.path);
    assert.equal((await store.list(everywhere, {}, signal)).items.length, 3);
  });
});

/** What any SQL client reads. */
function look(path: string): {
  readonly version: number;
  readonly rows: readonly Record<string, unknown>[];
  readonly types: readonly string[];
} {
  using client = new DatabaseSync(path, { readOnly: true });
  const rows = client.prepare("SELECT * FROM resources ORDER BY name").all();
  const columns = client.prepare("PRAGMA table_xinfo(resources)").all();
  return {
    version: Number(client.prepare("SELECT schema_version FROM meta").get()?.["schema_version"]),
    rows: rows.map((row) => ({ ...row })),
    types: columns.map(({ name, type }) => `${String(name)} ${String(type)}`),
  };
}

async function open(path: string): Promise<Store> {
  return Store.open({ backend: new SqliteBackend({ path, clock: systemClock }) }, signal);
}

/** A file as the first version made it, with three objects. */
async function firstVersion(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtempDisposable(join(tmpdir(), "keelson-first-"));
  const path = join(folder.path, "store.db");
  using database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec(readFileSync(new URL("./migrations/0001-init.sql", import.meta.url), "utf8"));
  const [name, group] = kind.split(/\.(.*)/);
  const bodies: Readonly<Record<string, Body>> = {
    bare: object("bare", { uid: "u-bare" }),
    full: object("full", {
      uid: "u-full",
      labels: { app: "x" },
      spec: { input: "?" },
      status: { phase: "done" },
    }),
    odd: Body.parse(
      '{"metadata":{"name":"odd","uid":"u-odd","finalizers":["a/b"]},"spec":null,"status":7}',
    ),
  };
  for (const [index, [objectName, { text }]] of Object.entries(bodies).entries()) {
    const at = [group ?? "", name ?? "", "default", objectName] as const;
    const revision = index + 2;
    database
      .prepare(
        `INSERT INTO resources (api_group, kind, namespace, name, resource_version, uid, api_version, object)
         VALUES (?, ?, ?, ?, ?, ?, 'ark.mckinsey.com/v1alpha1', ?)`,
      )
      .run(...at, revision, `u-${objectName}`, text);
    database
      .prepare(
        `INSERT INTO changes (revision, type, api_group, kind, namespace, name, uid, object)
         VALUES (?, 'ADDED', ?, ?, ?, ?, ?, ?)`,
      )
      .run(revision, ...at, `u-${objectName}`, text);
  }
  database.exec(`UPDATE meta SET head = 4;
    INSERT INTO counts VALUES ('${group}', '${name}', 'default', 3)`);
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}
