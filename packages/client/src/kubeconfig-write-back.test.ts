import assert from "node:assert/strict";
import {
  lstatSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { writeBack } from "./kubeconfig-write-back.ts";

test("tokens are written to the file that a link leads to, and the link stays", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kubeconfig-"));
  const [file, link] = [join(folder.path, "dotfiles", "config"), join(folder.path, "config")];
  mkdirSync(join(folder.path, "dotfiles"));
  writeFileSync(file, "id-token: a.b.c # mine\nrefresh-token: once\n");
  symlinkSync(file, link);
  const before = { idToken: "a.b.c", refreshToken: "once" };
  await writeBack(link, before, { idToken: "d.e.f", refreshToken: "twice" });
  assert.equal(readFileSync(file, "utf8"), "id-token: d.e.f # mine\nrefresh-token: twice\n");
  assert.ok(lstatSync(link).isSymbolicLink());
});
