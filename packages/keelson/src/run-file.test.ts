import assert from "node:assert/strict";
import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { CommandError } from "./commands/command-error.ts";
import { findServer } from "./commands/client/find-server.ts";
import { readRunFile, RunFileUnreadable } from "./run-file.ts";

const folder = () => mkdtempDisposable(join(tmpdir(), "keelson-run-file-"));

suite("run.json", () => {
  test("is absent where it is not there, or there is no folder to hold it", async () => {
    await using place = await folder();
    const file = join(place.path, "file");
    await writeFile(file, "");
    for (const dataDir of [place.path, join(place.path, "none"), file]) {
      assert.equal(await readRunFile(dataDir), undefined);
    }
  });

  test("says nothing where it is none of ours", async () => {
    await using place = await folder();
    for (const text of ["", "{", "null", "1", "[]", "{}", '{"pid":"1"}']) {
      await writeFile(join(place.path, "run.json"), text);
      assert.equal(await readRunFile(place.path), undefined, text);
    }
  });

  // A folder cannot be read by anybody, not even by root, who may read what belongs to others.
  test("that cannot be read is not taken for absent", async () => {
    await using place = await folder();
    const path = join(place.path, "run.json");
    await mkdir(path);
    await assert.rejects(readRunFile(place.path), (error) => {
      assert.ok(error instanceof RunFileUnreadable, String(error));
      assert.equal(error.message, `${path} cannot be read (EISDIR)`);
      return true;
    });
    const here = { environment: {}, workingFolder: place.path };
    await assert.rejects(findServer({ dataDir: place.path }, here), (error) => {
      assert.ok(error instanceof CommandError, String(error));
      assert.equal(
        error.message,
        `${path} cannot be read (EISDIR): ask as the user who runs the server, or name it with --server or KEELSON_SERVER`,
      );
      return true;
    });
  });
});
