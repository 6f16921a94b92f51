import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";

import { BuildLock } from "./build-lock.ts";

suite("build lock", () => {
  test("a second one waits until the first is released", async (t) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-lock-"));
    const path = join(folder.path, "lock");
    const first = await BuildLock.acquire(path, t.signal);
    assert.equal(readFileSync(path, "utf8"), String(process.pid));
    const patience = AbortSignal.timeout(20);
    await assert.rejects(BuildLock.acquire(path, patience, { pollMs: 0 }));
    assert.ok(patience.aborted);
    const second = BuildLock.acquire(path, t.signal, { pollMs: 1 });
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    assert.ok(!existsSync(path));
  });

  test("the lock of a dead process is taken over", async (t) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-lock-"));
    const path = join(folder.path, "lock");
    const { pid } = spawnSync(process.execPath, ["--version"]);
    writeFileSync(path, String(pid));
    using _lock = await BuildLock.acquire(path, t.signal);
    assert.equal(readFileSync(path, "utf8"), String(process.pid));
  });

  test("many who find the lock of a dead process have it one after the other", async (t) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-lock-"));
    const path = join(folder.path, "lock");
    const { pid } = spawnSync(process.execPath, ["--version"]);
    writeFileSync(path, String(pid));
    // Each leaves the lock as one who dies does; two at once cannot both make the folder.
    const program = `
      const { mkdirSync, rmdirSync, writeFileSync } = await import("node:fs");
      const { BuildLock } = await import(${JSON.stringify(import.meta.resolve("./build-lock.ts"))});
      const [path, dead] = ${JSON.stringify([path, String(pid)])};
      const { signal } = new AbortController();
      for (let round = 0; round < 100; round++) {
        await BuildLock.acquire(path, signal, { pollMs: 0 });
        mkdirSync(path + ".inside");
        rmdirSync(path + ".inside");
        writeFileSync(path, dead);
      }`;
    const run = promisify(execFile);
    const args = ["--input-type=module", "-e", program];
    await Promise.all(
      Array.from({ length: 4 }, () => run(process.execPath, args, { signal: t.signal })),
    );
  });
});
