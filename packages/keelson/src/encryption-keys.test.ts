import assert from "node:assert/strict";
import { mkdtempDisposable, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { systemRandom } from "@keelson/base";
import { encryptionKeys } from "./encryption-keys.ts";

suite("the key beside the data", () => {
  test("is made once, for its owner alone, whatever a start that was cut off has left of one", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-keys-"));
    const options = { dataDir: folder.path, random: systemRandom };
    await writeFile(join(folder.path, "encryption.key.new"), "half");
    const [made] = await encryptionKeys(undefined, options);
    assert.equal(made.length, 32);
    assert.deepEqual(await readdir(folder.path), ["encryption.key"]);
    assert.equal((await stat(join(folder.path, "encryption.key"))).mode & 0o777, 0o600);
    assert.deepEqual(await encryptionKeys(undefined, options), [made]);
  });

  test("is not replaced by another where it is out of reach, or is none", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-keys-"));
    const path = join(folder.path, "encryption.key");
    const options = { dataDir: folder.path, random: systemRandom };
    await symlink(join(folder.path, "unmounted/encryption.key"), path);
    await assert.rejects(encryptionKeys(undefined, options), {
      code: "USAGE",
      message: `${path} cannot be read or made (ENOENT): let this user read it, or give the key with KEELSON_ENCRYPTION_KEY`,
    });
    const other = join(folder.path, "other");
    await symlink(other, join(folder.path, "data"));
    await writeFile(other, "");
    await assert.rejects(
      encryptionKeys(undefined, { ...options, dataDir: join(folder.path, "data") }),
      { code: "USAGE", message: /cannot be read or made \(ENOTDIR\)/ },
    );
  });

  test("is told of where it was lost", async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-keys-"));
    const path = join(folder.path, "encryption.key");
    await writeFile(path, "");
    await assert.rejects(
      encryptionKeys(undefined, { dataDir: folder.path, random: systemRandom }),
      {
        code: "USAGE",
        message: `${path} holds no key of 32 bytes in base64: put the right one back, or remove it and register targets anew`,
      },
    );
  });
});
