import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, rm, stat, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { canReach, embeddedBinaries, usableBinaries } from "./binaries.ts";

const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;

/** The package as it was installed, in a place of its own, without the links that its install script makes. */
async function packageWithoutLinks(): Promise<{ root: string; home: string } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "keelson-binaries-"));
  const root = join(home, "package");
  const installed = dirname(dirname(await embeddedBinaries(undefined)));
  await mkdir(join(root, "native"), { recursive: true });
  await cp(join(installed, "native"), join(root, "native"), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/\/(share|pgxs|lib\/postgresql)(\/|$)/.test(path.slice(installed.length)),
  });
  const [link = ""] = execFileSync("find", [root, "-type", "l"], { encoding: "utf8" }).split("\n");
  if (link !== "") await unlink(link);
  return { root, home, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}

suite("PostgreSQL's programs", () => {
  test("links that the install script did not make are made", async () => {
    await using it = await packageWithoutLinks();
    const bin = await usableBinaries({ root: it.root, version: "test" }, undefined);
    assert.equal(bin, join(it.root, "native/bin"));
    const version = execFileSync(join(bin, "postgres"), ["--version"], { encoding: "utf8" });
    assert.match(version, /^postgres \(PostgreSQL\) 18/);
  });

  test(
    "for a user who cannot reach them they are copied, once",
    { skip: !isRoot && "needs root" },
    async () => {
      await using it = await packageWithoutLinks();
      await chmod(it.home, 0o700);
      assert.equal(await canReach(join(it.root, "native/bin/postgres"), nobody), false);
      const version = `test-${process.pid}`;
      const bin = await usableBinaries({ root: it.root, version }, nobody);
      const copy = dirname(dirname(bin));
      try {
        assert.notEqual(bin, join(it.root, "native/bin"));
        assert.equal(await canReach(join(bin, "postgres"), nobody), true);
        const said = execFileSync(join(bin, "postgres"), ["--version"], {
          encoding: "utf8",
          ...nobody,
        });
        assert.match(said, /PostgreSQL/);
        const { ino } = await stat(copy);
        await usableBinaries({ root: it.root, version }, nobody);
        assert.equal((await stat(copy)).ino, ino);
      } finally {
        await rm(copy, { recursive: true });
      }
    },
  );
});
