import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "./postgres-process.ts";

test("a pid file that stays empty is told with what mends it", () => {
  const said = ['FATAL:  lock file "postmaster.pid" is empty'];
  const { code, message } = explain(said, { dataDir: "/data", port: 5432 });
  assert.equal(code, "data-dir-in-use");
  assert.match(message, /^postmaster\.pid in \/data is empty: .*; if none runs, remove that file/);
});
