import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import postgres from "postgres";
import { eachPostgres } from "./each-postgres.ts";
import { startThrowawayPostgres } from "./throwaway-postgres.ts";

eachPostgres("throwaway", (server, flavour) => {
  test("it gives each test a database of its own", async () => {
    const shared = await server();
    await using one = await shared.createDatabase();
    await using other = await shared.createDatabase();
    for (const { url, name } of [one, other]) {
      const sql = postgres(url, { max: 1 });
      const rows = await sql`SELECT current_database() AS name`;
      await sql.end();
      assert.deepEqual([...rows], [{ name }]);
    }
  });

  test("what was committed outlives a restart, also an immediate one", async () => {
    await using server = await startThrowawayPostgres({ flavour });
    await using database = await server.createDatabase();
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    const [{ fsync } = {}] = await sql`SHOW fsync`;
    assert.equal(fsync, "on");
    await sql`CREATE TABLE kept (id integer)`;
    await sql`INSERT INTO kept VALUES (1)`;
    await server.restart({ mode: "immediate" });
    await sql.end();
    const again = postgres(database.url, { max: 1, onnotice: () => {} });
    await again`INSERT INTO kept VALUES (2)`;
    await server.restart({ mode: "fast" });
    await again.end();
    const last = postgres(database.url, { max: 1 });
    const rows = await last`SELECT id FROM kept ORDER BY id`;
    await last.end();
    assert.deepEqual([...rows], [{ id: 1 }, { id: 2 }]);
  });

  test("server and folder are gone after the process that started them is killed", async () => {
    const entry = new URL("./index.ts", import.meta.url).href;
    const child = spawn(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `const { startThrowawayPostgres } = await import(${JSON.stringify(entry)});
         const server = await startThrowawayPostgres({ flavour: ${JSON.stringify(flavour)} });
         console.log(JSON.stringify({ dataDir: server.dataDir, url: server.url }));
         setInterval(() => {}, 1000);`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { dataDir, url } = JSON.parse(line) as { dataDir: string; url: string };
    const home = dirname(dataDir);
    assert.ok(existsSync(home));

    const removed = folderRemoved(home);
    child.kill("SIGKILL");
    await removed;

    const sql = postgres(url, { max: 1, connect_timeout: 60 });
    await assert.rejects(sql`SELECT 1`.execute(), { code: "ECONNREFUSED" });
  });
});

/** Resolves when `folder` is no longer there. */
async function folderRemoved(folder: string): Promise<void> {
  const watcher = watch(dirname(folder));
  try {
    for (;;) {
      const changed = once(watcher, "change");
      if (!existsSync(folder)) return;
      await changed;
    }
  } finally {
    watcher.close();
  }
}
