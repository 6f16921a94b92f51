import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { BuildLock } from "./build-lock.ts";

suite("build lock", () => {
  test("a second one waits until the first is released", async (t) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-lock-"));
    const path = join(folder.path, "lock");
    const order: string[] = [];
    const first = await BuildLock.acquire(path, t.signal);
    const second = BuildLock.acquire(path, t.signal).then((lock) => {
      order.push("second");
      return lock;
    });
    assert.equal(readFileSync(path, "utf8"), String(process.pid));
    order.push("released");
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    assert.deepEqual(order, ["released", "second"]);
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
});
