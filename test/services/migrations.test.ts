import assert from "node:assert/strict";
import { test } from "node:test";
import { eachPostgres } from "@keelson/database/testing";
import { runProgram } from "./process.ts";

eachPostgres("migrations", (server) => {
  test(
    "ten processes that start at once apply each migration once",
    { timeout: 300_000 },
    async () => {
      await using database = await (await server()).createDatabase();
      const ended = await Promise.all(
        Array.from({ length: 10 }, () => runProgram("migrate-process", database.url)),
      );
      assert.deepEqual(
        ended.map(({ code }) => code),
        ended.map(() => 0),
      );
      const applied = ended.flatMap(({ output }) => JSON.parse(output) as string[]).sort();
      assert.deepEqual(applied, [
        "keelson/database/0001-leases-numbering",
        "lifecycle/outbox/0001-init",
        "shop/outbox/0001-init",
      ]);
    },
  );
});
