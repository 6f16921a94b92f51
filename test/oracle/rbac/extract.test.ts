import assert from "node:assert/strict";
import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "node:test";

import { oracleTest } from "../oracle-test.ts";
import { extractRbac, rbacFile } from "./extract.ts";

suite("extracted roles", () => {
  oracleTest("the committed data is what the oracle shows", async (t) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-rbac-"));
    const path = join(folder.path, "rbac.json");
    await extractRbac(path, t.signal);
    const lines = (file: string): string[] => readFileSync(file, "utf8").split("\n");
    assert.deepEqual(lines(path), lines(rbacFile));
  });
});
