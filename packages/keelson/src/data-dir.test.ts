import assert from "node:assert/strict";
import { mkdtempDisposable, stat, symlink, writeFile } from "node:fs/promises";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { umask } from "node:process";
import { suite, test, type TestContext } from "node:test";
import { systemClock, systemRandom } from "@keelson/base";
import { claimDataDir } from "./data-dir.ts";

const nowhere = "cannot be made there, where a link leads nowhere or the system takes no folders";

suite("the data folder", () => {
  test("folders above it that are missing are made, and all may pass through them", async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-data-dir-"));
    const path = join(folder.path, "a/b/data");
    await using claimed = await claim(path, t);
    const modes = ["a", "a/b", "a/b/data", "a/b/data/claims"].map(async (name) => {
      return (await stat(join(folder.path, name))).mode & 0o711;
    });
    const mode = 0o711 & ~umask();
    assert.deepEqual([claimed.path, ...(await Promise.all(modes))], [path, mode, mode, mode, mode]);
  });

  test("one that cannot be made is refused with what to do", async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-data-dir-"));
    await writeFile(join(folder.path, "file"), "");
    await symlink(join(folder.path, "unmounted/disk"), join(folder.path, "link"));
    const refused = {
      file: "is not a folder",
      "file/data": "is not a folder",
      link: nowhere,
      "link/data": nowhere,
      ["long".repeat(100)]: "cannot be used (ENAMETOOLONG)",
    };
    for (const [name, reason] of Object.entries(refused)) {
      const path = join(folder.path, name);
      await assert.rejects(claim(path, t), {
        code: "DATA_DIR_NOT_WRITABLE",
        message: `the data folder ${path} ${reason}: choose another with --data-dir`,
      });
    }
  });

  test(
    "one is refused where nobody may make folders and the system only says that there is none",
    { skip: platform() === "linux" ? false : "only Linux has a /proc" },
    async (t) => {
      await assert.rejects(claim("/proc/keelson/data", t), {
        code: "DATA_DIR_NOT_WRITABLE",
        message: `the data folder /proc/keelson/data ${nowhere}: choose another with --data-dir`,
      });
    },
  );
});

function claim(path: string, { signal }: TestContext) {
  return claimDataDir({ path, clock: systemClock, random: systemRandom }, signal);
}
