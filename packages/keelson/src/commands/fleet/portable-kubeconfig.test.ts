import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { portableKubeconfig } from "./portable-kubeconfig.ts";

suite("a kubeconfig that cannot be sent", () => {
  const cases = {
    "kind: Deployment\nmetadata: { name: web }\n": "file is no kubeconfig: it has no contexts",
    "contexts: [{ name: one }, { name: two }]\n":
      "file has no current context: choose one of one, two with --context",
  };
  for (const [text, message] of Object.entries(cases)) {
    test(message, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "keelson-kubeconfig-"));
      t.after(() => rm(folder, { recursive: true }));
      const path = join(folder, "file");
      await writeFile(path, text);
      const options = { context: undefined, shown: "file" };
      await assert.rejects(portableKubeconfig(path, options), { message });
    });
  }
});
