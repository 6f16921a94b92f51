// `keelson serve`: chosen parts against a PostgreSQL that replicas share.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { startThrowawayPostgres } from "@keelson/database/testing";
import { KeelsonProcess, leftBehind, temporaryFolder } from "./keelson-process.ts";

suite("keelson serve", () => {
  test("replicas start at once on an empty database, know their callers, and survive a restart of it", async (t) => {
    await using folder = await temporaryFolder();
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" });
    await using database = await postgres.createDatabase();
    const tokensFile = join(folder.path, "tokens.json");
    const tokens = [{ name: "ops", sha256: hash("sha256", "let-me-in"), role: "admin" }];
    await writeFile(tokensFile, JSON.stringify({ tokens }));
    const environment = {
      DATABASE_URL: database.url,
      KEELSON_TOKENS_FILE: tokensFile,
      KEELSON_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
    };
    const replica = (name: string, roles: string): KeelsonProcess =>
      new KeelsonProcess(join(folder.path, name), {
        command: "serve",
        flags: ["--roles", roles],
        environment,
      });
    await using one = replica("one", "rest,scheduler");
    await using other = replica("other", "rest");
    await using worker = replica("worker", "worker");
    const [{ rest = "" }, , { rest: none, metrics = "" }] = await Promise.all([
      one.ready(),
      other.ready(),
      worker.ready(),
    ]);
    assert.equal(none, undefined);
    assert.equal((await fetch(`${metrics}/readyz`, { signal: t.signal })).status, 200);

    for (const [path, headers, status] of [
      ["/readyz", {}, 200],
      ["/api/v1/info", {}, 200],
      ["/api/v1/nothing", {}, 401],
      ["/api/v1/nothing", { authorization: "Bearer wrong" }, 401],
      ["/api/v1/nothing", { authorization: "Bearer let-me-in" }, 404],
    ] as const) {
      const answer = await fetch(`${rest}${path}`, { headers, signal: t.signal });
      assert.deepEqual([path, answer.status], [path, status]);
      await answer.text();
    }

    await postgres.stop({ mode: "fast" });
    const down = await fetch(`${rest}/readyz`, { signal: t.signal });
    assert.deepEqual([down.status, down.headers.get("retry-after")], [503, "5"]);
    assert.equal((await fetch(`${rest}/health`, { signal: t.signal })).status, 200);
    await postgres.start();
    let status = 0;
    while (status !== 200) status = (await fetch(`${rest}/readyz`, { signal: t.signal })).status;

    for (const replica of [one, other, worker]) {
      const { code, output } = await replica.stop("SIGTERM");
      assert.equal(code, 0, output);
      assert.deepEqual(leftBehind(replica.dataDir), []);
      assert.ok(!output.includes("let-me-in") && !output.includes(new URL(database.url).password));
    }
  });
});
