import assert from "node:assert/strict";
import { chmod, chown, mkdtempDisposable, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { systemRandom } from "@keelson/base";

import { writeSecretFile } from "./secret-file.ts";

const notRoot = process.getuid?.() !== 0 && "only root can write for somebody else";
const [someone, another] = [65_533, 65_534];

/** A folder of somebody, and a way to write there. */
async function folderOf(uid: number, mode = 0o755) {
  const folder = await mkdtempDisposable(join(tmpdir(), "keelson-secret-"));
  await chmod(folder.path, mode);
  await chown(folder.path, uid, uid);
  const path = join(folder.path, "kubeconfig");
  const write = async () => {
    await writeSecretFile(path, "new", systemRandom);
    const { uid: owner, gid, mode } = await stat(path);
    assert.equal(await readFile(path, "utf8"), "new");
    assert.deepEqual([gid, mode & 0o777], [owner, 0o600]);
    return owner;
  };
  return { path, write, [Symbol.asyncDispose]: () => folder.remove() };
}

suite("a secret file that root writes", { skip: notRoot }, () => {
  test("belongs to whoever has the folder", async () => {
    await using bed = await folderOf(someone);
    assert.equal(await bed.write(), someone);
    assert.equal(await bed.write(), someone);
  });

  test("belongs to whoever had the one that it replaces", async () => {
    await using bed = await folderOf(0);
    await writeFile(bed.path, "old");
    await chown(bed.path, another, another);
    assert.equal(await bed.write(), another);
  });

  test("is not for whoever has put one where many may write", async () => {
    await using bed = await folderOf(0, 0o1777);
    await writeFile(bed.path, "");
    await chown(bed.path, another, another);
    assert.equal(await bed.write(), 0);
  });
});
