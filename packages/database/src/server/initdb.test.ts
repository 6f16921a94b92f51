import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startThrowawayPostgres } from "../testing/throwaway-postgres.ts";

test("a password that a start that was killed has left is gone with the next first start, and no other", async (t) => {
  const left = async (ageSeconds: number, ...files: readonly string[]): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), "keelson-initdb-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    for (const file of files) await writeFile(join(folder, file), "secret");
    const seconds = Date.now() / 1000 - ageSeconds;
    await utimes(folder, seconds, seconds);
    return folder;
  };
  const old = await left(7_200, "password");
  const empty = await left(7_200);
  const another = await left(7_200, "password", "diary.txt");
  const young = await left(60, "password");
  await using _server = await startThrowawayPostgres({ flavour: "embedded", fsync: false });
  assert.deepEqual(
    [old, empty, another, young].map((folder) => existsSync(folder)),
    [false, false, true, true],
  );
  assert.ok(existsSync(join(another, "diary.txt")));
  assert.ok(existsSync(join(young, "password")));
});
