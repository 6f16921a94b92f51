// A server that is killed has left what it compiled to the next one.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { until } from "../tools/until.ts";
import { startOurs } from "./ours.ts";

test("what was compiled for a start is kept once the server is ready", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-compiled-"));
  try {
    const environment = { NODE_COMPILE_CACHE: folder };
    await using server = await startOurs({ driver: "sqlite", environment }, t.signal);
    // It is kept before anybody is answered.
    const isReady = async (): Promise<boolean> =>
      (await server.client.send({ path: "/readyz" }, t.signal)).status === 200;
    await until(isReady, t.signal, "the server to be ready");
    await server.stop("SIGKILL");
    assert.ok(compiledIn(folder).length > 500, `${compiledIn(folder).length} files are kept`);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});

function compiledIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
